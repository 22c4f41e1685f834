"""The workspace and the channels on disk, for what people do by hand without an event loop.

The names of the store that a caller needs are passed on, so that nobody above the runtime imports
the store.
"""

from __future__ import annotations

from pipimem.notes.files import File
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import read_text
from pipimem.store.workspace import WorkspaceStore

__all__ = ["ChannelStore", "WorkspaceStore", "file_text"]


def file_text(store: ChannelStore, file: File) -> str:
    """A file of a channel as it stands on disk, empty where there is none."""
    return read_text(store.folder / file, store.workspace.root) or ""
