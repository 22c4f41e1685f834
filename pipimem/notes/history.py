"""The blocks of HISTORY.md: headings with a time range, and the bullets under them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime

from pipimem.notes.entry import Entry
from pipimem.notes.headings import read_heading
from pipimem.notes.notes import Note
from pipimem.text.markdown.parser import Section


@dataclass(frozen=True, slots=True)
class HistoryBlock:
    """A block: its heading word for word, the end of its time range, its month if it is a fold."""

    heading: str
    end: datetime | None
    month: str
    section: Section
    bullets: tuple[Entry, ...]


def blocks(note: Note) -> tuple[HistoryBlock, ...]:
    """The blocks of HISTORY.md in the order of the file; headings without bullets are none."""
    found = []
    # Both stand in the order of the file: a long history has thousands of either.
    starts = [entry.start for entry in note.entries]
    for section in note.document.sections:
        first, last = bisect_left(starts, section.start), bisect_left(starts, section.end)
        bullets = note.entries[first:last]
        if section.level and bullets:
            _, end, month, _ = read_heading(section.title)
            found.append(HistoryBlock(section.title, end, month, section, bullets))
    return tuple(found)


def newest_end(note: Note) -> datetime | None:
    """The end of the newest block that is no fold: everything up to here was consolidated."""
    return max((block.end for block in blocks(note) if block.end and not block.month), default=None)
