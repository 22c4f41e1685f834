"""Where something that a tool shows comes from: file, heading, messages, day, who said it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipimem.notes.files import File
from pipimem.recall.items import Item, Source

if TYPE_CHECKING:
    from pipimem.runtime.channel_memory import ChannelMemory

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
        citations.append({name: value for name, value in citation.items() if value})
    return citations
