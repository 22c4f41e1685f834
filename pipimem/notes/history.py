"""The blocks of HISTORY.md: headings with a time range, and the bullets under them."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipimem.notes.entry import Entry
from pipimem.notes.notes import Note
from pipimem.text.dates.bounds import aware, local
from pipimem.text.markdown.parser import Section

_RANGE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<start>\d\d:\d\d)"
    r"\s?[–-]\s?(?:(?P<last>\d{4}-\d\d-\d\d) )?(?P<end>\d\d:\d\d)"
    r" (?P<offset>[+-]\d\d:\d\d)(?: · (?P<title>.*))?$"
)
_MONTH = re.compile(r"(?P<month>\d{4}-\d\d)(?: · (?P<title>.*))?$")
# What older tools wrote: an ISO time somewhere in the heading.
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


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


def read_heading(heading: str) -> tuple[datetime | None, datetime | None, str, str]:
    """Start, end, month and title of a block's heading; what is not there is `None` or empty."""
    try:
        found = _RANGE.match(heading)
        if found:
            start = datetime.fromisoformat(f"{found['day']}T{found['start']}{found['offset']}")
            end = datetime.fromisoformat(
                f"{found['last'] or found['day']}T{found['end']}{found['offset']}"
            )
            return start, end, "", found["title"] or ""
        found = _MONTH.match(heading)
        if found:
            start = datetime.fromisoformat(f"{found['month']}-01T00:00+00:00")
            following = (start + timedelta(days=32)).replace(day=1)
            return start, following - timedelta(minutes=1), found["month"], found["title"] or ""
        found = _ISO.search(heading)
        if found:
            when = aware(datetime.fromisoformat(found[0]))
            return when, when, "", heading
    except (ValueError, OverflowError):
        pass  # it looks like a time, and there is no such time
    return None, None, "", heading


def block_heading(start: datetime, end: datetime, title: str) -> str:
    """The heading of a block, times in the offset of its end and to the minute."""
    start = local(start, end.tzinfo)
    offset = end.isoformat()[-6:] if end.utcoffset() is not None else "+00:00"
    last = f"{end:%H:%M}" if start.date() == end.date() else f" {end:%Y-%m-%d %H:%M}"
    dash = "–" if start.date() == end.date() else " –"
    heading = f"{start:%Y-%m-%d %H:%M}{dash}{last} {offset}"
    return f"{heading} · {title}" if title else heading


def month_heading(month: str, title: str) -> str:
    """The heading of a fold: its month and what it was about."""
    return f"{month} · {title}" if title else month


def newest_end(note: Note) -> datetime | None:
    """The end of the newest block that is no fold: everything up to here was consolidated."""
    return max((block.end for block in blocks(note) if block.end and not block.month), default=None)
