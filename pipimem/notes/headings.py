"""The headings of the three files: standard names in both languages, times of history blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from pipimem.notes.kinds import Kind
from pipimem.resources import sections
from pipimem.text.characters import has_han, is_chinese
from pipimem.text.dates.bounds import aware, local
from pipimem.text.talk.personal import health_statement, is_wish

K = TypeVar("K")

_LINES = sections("headings")
# Headings of MEMORY.md by kind, and of SESSION.md by the first of them, in the order of the file.
_BY_KIND = [line.split(": ") for line in _LINES["memory"]]
HEADINGS = {Kind(kind): tuple(names.split(", ")) for kind, names in _BY_KIND}
SECTIONS = {line.split(", ")[0]: tuple(line.split(", ")) for line in _LINES["session"]}

_KIND_OF = {heading.casefold(): kind for kind, headings in HEADINGS.items() for heading in headings}
_SECTION_OF = {name.casefold(): section for section, names in SECTIONS.items() for name in names}

_RANGE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<start>\d\d:\d\d)"
    r"\s?[–-]\s?(?:(?P<last>\d{4}-\d\d-\d\d) )?(?P<end>\d\d:\d\d)"
    r" (?P<offset>[+-]\d\d:\d\d)(?: · (?P<title>.*))?$"
)
_MONTH = re.compile(r"(?P<month>\d{4}-\d\d)(?: · (?P<title>.*))?$")
# What older tools wrote: an ISO time somewhere in the heading.
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


def kind_of(section: str) -> Kind | None:
    """The kind a heading stands for, `None` for a heading of people's own."""
    return _KIND_OF.get(section.strip().casefold())


def personal_kind(text: str, *, in_question: bool = False) -> Kind | None:
    """Return `WISH` or `HEALTH` for a text of that kind, `None` for any other.

    Of a question a wish must say that it holds for good, and health is what stands in front of it.
    """
    if is_wish(text, in_question=in_question):
        return Kind.WISH
    return Kind.HEALTH if health_statement(text) else None


def section_of(title: str) -> str | None:
    """The standard section of SESSION.md that a heading stands for, `None` for another heading."""
    return _SECTION_OF.get(title.strip().casefold())


def heading_for(kind: Kind, present: Sequence[str], text: str = "") -> str:
    """The heading of `present` for a kind, or the one to add to a MEMORY.md with a text."""
    return _heading(HEADINGS, kind_of, kind, present, text)


def title_for(section: str, present: Sequence[str], text: str = "") -> str:
    """The heading of `present` for a section, or the one to add to a SESSION.md with a text."""
    return _heading(SECTIONS, section_of, section, present, text)


def _heading(
    names: Mapping[K, tuple[str, ...]],
    meant: Callable[[str], K | None],
    wanted: K,
    present: Sequence[str],
    text: str,
) -> str:
    """The heading that is there, or one in the language of the others; without any, of the text."""
    standing = {meant(title): title for title in reversed(present)}
    standing.pop(None, None)
    if wanted in standing:
        return standing[wanted]
    in_chinese = is_chinese(" ".join(standing.values()) or text)
    return next(name for name in names[wanted] if has_han(name) is in_chinese)


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
