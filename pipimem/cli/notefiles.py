"""The notes by the names people type."""

from __future__ import annotations

from collections.abc import Mapping

import click

from pipimem.cli.options import Decorated
from pipimem.notes.files import File

NOTES: Mapping[str, File] = {"session": File.SESSION, "memory": File.MEMORY, "history": File.HISTORY}


def note_file(command: Decorated) -> Decorated:
    """One of the three files as an argument that may be left out; `MEMORY.md` is `memory` too."""
    return click.argument("file", type=_Name(), required=False)(command)


class _Name(click.Choice[str]):
    """`memory`, `MEMORY` or `MEMORY.md`."""

    def __init__(self) -> None:
        super().__init__([*NOTES], case_sensitive=False)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The short name."""
        return super().convert(value.lower().removesuffix(".md"), param, ctx)
