"""Entries of the notes with their whole text, by the ids that a search shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipimem.notes.kinds import File
from pipimem.recall.items import Source
from pipimem.runtime.tools.citations import cited_entry

if TYPE_CHECKING:
    from pipimem.runtime.channel_memory import ChannelMemory
    from pipimem.runtime.entry_list import ListedEntry

# How the ids of entries begin.
_ENTRIES = {
    f"{Source.MEMORY}:": File.MEMORY,
    f"{Source.SESSION}:": File.SESSION,
    f"{Source.HISTORY}:": File.HISTORY,
}


def file_of(name: str) -> File | None:
    """The file of the entry of an id; `None` where it is the id of a message."""
    return next((file for prefix, file in _ENTRIES.items() if name.startswith(prefix)), None)


async def whole_entries(channel: ChannelMemory, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By their ids the entries of all files of which some are asked for."""
    known: dict[str, dict[str, Any]] = {}
    for prefix, file in _ENTRIES.items():
        if not any(name.startswith(prefix) for name in names):
            continue
        for block in (await channel.files.view(file)).blocks:
            if block.entry is not None:
                name = f"{prefix}{block.entry.id}"
                known[name] = _entry_whole(channel, file, name, block.entry)
    return known


def _entry_whole(
    channel: ChannelMemory, file: File, name: str, entry: ListedEntry
) -> dict[str, Any]:
    return {
        "id": name,
        "text": channel.masked(entry.text),
        "trust": str(entry.trust),
        "messages": list(entry.sources),
        "source": cited_entry(file, entry),
    }
