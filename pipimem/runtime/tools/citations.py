"""Where something that a tool shows comes from: file, heading, messages, day, who said it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipimem.notes.kinds import File
from pipimem.recall.items import Item, Source

if TYPE_CHECKING:
    from pipimem.runtime.channel_memory import ChannelMemory
    from pipimem.runtime.entry_list import ListedEntry

_FILES = {
    Source.SESSION: str(File.SESSION),
    Source.MEMORY: str(File.MEMORY),
    Source.HISTORY: str(File.HISTORY),
    Source.WORKSPACE: "MEMORY.md of the workspace",
    Source.LOG: "log.jsonl",
}


async def cited(channel: ChannelMemory, items: Sequence[Item]) -> list[dict[str, Any]]:
    """A citation for each item; what is not known of it is left out."""
    citations = []
    for item, messages in zip(items, await channel.sources(*items), strict=True):
        citation = {
            "file": _FILES[item.source],
            "section": "" if item.source is Source.LOG else item.section,
            "messages": list(messages),
            "date": item.time,
            "speaker": item.speaker,
        }
        citations.append(_known(citation))
    return citations


def cited_entry(file: File, entry: ListedEntry) -> dict[str, Any]:
    """The citation of an entry of a file; what is not known of it is left out."""
    said = entry.since.isoformat(timespec="minutes") if entry.since else ""
    citation = {
        "file": str(file),
        "section": entry.section,
        "messages": list(entry.sources),
        "date": said,
        "speaker": entry.speaker,
    }
    return _known(citation)


def _known(citation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in citation.items() if value}
