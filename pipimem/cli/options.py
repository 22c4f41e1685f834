"""The options and arguments that commands share, and the runtime they open by them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from pipimem.notes.files import File
from pipimem.settings import Settings, settings_from
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.clock import Clock
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.pipimem import Pipimem

T = TypeVar("T")

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

    def settings(self, *, idle: bool = False) -> Settings:
        """What its pipimem.toml says; `idle` work only for a command that stays."""
        settings = settings_from(self.store().human_text("pipimem.toml"))
        return (
            settings
            if idle
            else replace(settings, maintenance=replace(settings.maintenance, enabled=False))
        )

    @asynccontextmanager
    async def opened(
        self, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> AsyncIterator[Pipimem]:
        """The runtime on this workspace, closed at the end."""
        from pipimem.runtime.pipimem import (
            Pipimem,
        )  # 60 ms that commands which only read files save

        async with Pipimem(
            self.workspace, self.model, settings=settings or self.settings(), clock=clock
        ) as pipimem:
            yield pipimem

    def with_channel(self, name: str, work: Callable[[Channel], Awaitable[T]]) -> T:
        """What some work makes of a channel of the runtime. Raises `ChannelError` for an unknown one."""

        async def done() -> T:
            async with self.opened() as pipimem:
                return await work(await pipimem.channel(name, create=False))

        return run(done)


def workspace_folder(option: str | None, variable: str | None, here: Path) -> Path:
    """The option, else the variable, else the nearest folder with a pipimem.toml, else ./workspace."""
    if option or variable:
        return Path(option or variable or "")
    found = next(
        (folder for folder in (here, *here.parents) if (folder / "pipimem.toml").is_file()), None
    )
    return found or Path("workspace")


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a command's work on an event loop; an error that arrives alone in a group is raised as itself."""
    import anyio  # 25 ms with its event loop, likewise

    try:
        return anyio.run(work)
    except BaseExceptionGroup as group:
        error = _only(group)
        raise error from error.__cause__


def _only(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class _FileName(click.Choice[str]):
    """`memory`, `MEMORY` or `MEMORY.md`."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The short name."""
        return super().convert(value.lower().removesuffix(".md"), param, ctx)


chosen = click.make_pass_decorator(Chosen)
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
