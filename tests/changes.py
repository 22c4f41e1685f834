"""The changes of a channel, for tests that look at what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore


def changes_of(root: Path, channel: str = "room") -> list[dict[str, Any]]:
    """Return the changes that are kept of a channel, oldest first, without empty fields."""
    store = ChannelStore.open(WorkspaceStore.open(root), channel, create=False)
    values = [msgspec.json.decode(msgspec.json.encode(change)) for change in store.changes()]
    return [{name: each for name, each in value.items() if each} for value in values]
