"""The options and arguments that commands share, and the workspace and parts they open."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from pipimem.cli.output import Failed
from pipimem.errors import PipimemError
from pipimem.notes.kinds import File
from pipimem.runtime.opened_parts import WorkspaceStore, changing, opened, require_channel
from pipimem.settings import Settings, settings_from

T = TypeVar("T")
P = ParamSpec("P")

NOTES: Mapping[str, File] = {
    "session": File.SESSION,
    "memory": File.MEMORY,
    "history": File.HISTORY,
}
"""The notes by the names people type."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The workspace and the model of this call; an empty model leaves it to the settings."""

    workspace: Path
    model: str = ""

    def store(self) -> WorkspaceStore:
        """The workspace on disk. Raises `WorkspaceError` where there is none."""
        return WorkspaceStore.open(self.workspace)

    def part(self, part: Callable[[Any], T], name: str) -> T:
        """A part of a channel, as `ChannelNotes`. Raises `ChannelError` for an unknown channel."""
        return opened(part, self.store(), name)

    def changing(self, part: Callable[[Any], T], name: str) -> AbstractContextManager[T]:
        """The same for a change: the files are closed at the end."""
        return changing(part, self.store(), name)

    def settings(self, *, idle: bool = False) -> Settings:
        """What its pipimem.toml says; `idle` work only for a command that stays."""
        settings = settings_from(self.store().human_text("pipimem.toml"))
        if idle:
            return settings
        return replace(settings, maintenance=replace(settings.maintenance, enabled=False))


class _FileName(click.Choice[str]):
    """`memory`, `MEMORY` or `MEMORY.md`."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The short name."""
        return super().convert(value.lower().removesuffix(".md"), param, ctx)


def chosen(command: Callable[Concatenate[Chosen, P], T]) -> Callable[P, T]:
    """Give a command the workspace and the model of this call as its first argument."""

    @wraps(command)
    def with_chosen(*args: P.args, **kwargs: P.kwargs) -> T:
        workspace, model = click.get_current_context().obj
        return command(Chosen(workspace, model), *args, **kwargs)

    return with_chosen


channel = click.argument("channel")
note_file = click.argument("file", type=_FileName([*NOTES], case_sensitive=False), required=False)
kind = click.option(
    "--kind",
    type=click.Choice(["dm", "group"]),
    default="dm",
    show_default=True,
    help="What the channel is, when it is new.",
)
# All that is meant for eyes goes to standard error then.
as_json = click.option(
    "--json", "as_json", is_flag=True, help="For scripts: JSON on standard output."
)
batch = click.option(
    "--batch",
    metavar="FILE",
    help="Ask every line of a JSONL file with channel and query; - for standard input.",
)

# What `-k` is where nothing is said: the deepest place that the scores look at.
BATCH_K = 10


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """Whom it asks, what, and all fields of its line as they came, for the answer's line."""

    channel: str
    text: str
    fields: Mapping[str, object]


def queries(
    chosen: Chosen, channel: str | None, text: str | None, file: str | None
) -> list[BatchQuery]:
    """The one query of the command line, or those of a file (`-`: standard input).

    All are checked before one is asked. Raises `UsageError` for both and for neither, `Failed` for
    a broken line and for an unknown channel of the file.
    """
    if file is None:
        return [_single(channel, text)]
    if channel is not None:
        raise click.UsageError("--batch takes channel and query from its file")
    asked = _read(file)
    for name in dict.fromkeys(query.channel for query in asked):
        try:
            require_channel(chosen.store(), name)
        except PipimemError as error:
            raise Failed(f"{error} Nothing was asked.") from error
    return asked


def _single(channel: str | None, text: str | None) -> BatchQuery:
    if channel is None or text is None:
        raise click.UsageError("give CHANNEL and QUERY, or --batch FILE")
    return BatchQuery(channel, text, {"channel": channel, "query": text})


def _read(file: str) -> list[BatchQuery]:
    name = "standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise Failed(f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    return [
        _query(line, f"{name}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _query(line: str, where: str) -> BatchQuery:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise Failed(f"{where}: not JSON ({error}); nothing was asked") from error
    match fields:
        case {"channel": str(channel), "query": str(text)}:
            return BatchQuery(channel, text, fields)
    raise Failed(
        f"{where}: must be an object with the strings channel and query; nothing was asked"
    )
