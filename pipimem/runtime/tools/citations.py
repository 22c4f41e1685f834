"""What a tool shows of memory: whole entries by their ids, and where each thing comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipimem.notes.files import File
from pipimem.recall.items import Item, Source
from pipimem.runtime.note_view import ListedEntry
from pipimem.runtime.notes import ChannelNotes
from pipimem.runtime.talk import ChannelTalk

_FILES = {
    Source.SESSION: str(File.SESSION),
    Source.MEMORY: str(File.MEMORY),
    Source.HISTORY: str(File.HISTORY),
    Source.WORKSPACE: "MEMORY.md of the workspace",
    Source.LOG: "log.jsonl",
}

# How the ids of entries begin.
_ENTRIES = {
    f"{Source.MEMORY}:": File.MEMORY,
    f"{Source.SESSION}:": File.SESSION,
    f"{Source.HISTORY}:": File.HISTORY,
}


async def cited(talk: ChannelTalk, items: Sequence[Item]) -> list[dict[str, Any]]:
    """A citation for each item; what is not known of it is left out."""
    citations = []
    for item, messages in zip(items, await talk.sources(*items), strict=True):
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


def file_of(name: str) -> File | None:
    """The file of the entry of an id; `None` where it is the id of a message."""
    return next((file for prefix, file in _ENTRIES.items() if name.startswith(prefix)), None)


async def whole_entries(notes: ChannelNotes, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By their ids the entries of all files of which some are asked for."""
    known: dict[str, dict[str, Any]] = {}
    for prefix, file in _ENTRIES.items():
        if not any(name.startswith(prefix) for name in names):
            continue
        for block in (await notes.view(file)).blocks:
            if block.entry is not None:
                name = f"{prefix}{block.entry.id}"
                known[name] = _entry_whole(notes, file, name, block.entry)
    return known


def _entry_whole(notes: ChannelNotes, file: File, name: str, entry: ListedEntry) -> dict[str, Any]:
    return {
        "id": name,
        "text": notes.masked(entry.text),
        "trust": str(entry.trust),
        "messages": list(entry.sources),
        "source": cited_entry(file, entry),
    }
