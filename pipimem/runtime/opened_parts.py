"""The parts of a channel for a command: opened on its files, without an event loop and services."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pipimem.clock import Clock
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.threads import run_alone
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

__all__ = ["WorkspaceStore", "changing", "opened", "require_channel", "run_alone"]

P = TypeVar("P")


def opened(
    part: Callable[[ChannelAccess], P],
    workspace: WorkspaceStore,
    name: str,
    settings: Settings | None = None,
) -> P:
    """Return a part of the channel of an id, by default with the settings of no pipimem.toml.

    A command that only reads works while that file is broken. Raises `ChannelError` for an unknown
    channel.
    """
    return part(_access(workspace, name, settings))


def require_channel(workspace: WorkspaceStore, name: str) -> Path:
    """Return the folder of a channel. Raises `ChannelError` for an unknown one."""
    return ChannelStore.open(workspace, name, create=False).folder


@contextmanager
def changing(
    part: Callable[[ChannelAccess], P], workspace: WorkspaceStore, name: str
) -> Iterator[P]:
    """The same for a command that changes the channel, whose files are closed at the end."""
    access = _access(workspace, name)
    try:
        yield part(access)
    finally:
        access.store.close()


def _access(
    workspace: WorkspaceStore, name: str, settings: Settings | None = None
) -> ChannelAccess:
    store = ChannelStore.open(workspace, name, create=False)
    return ChannelAccess(store, settings or Settings(), Clock())
