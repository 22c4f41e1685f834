"""The sheet, SESSION.md, as a prompt shows it, and as the changes of an answer leave it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from pipimem.text.secrets import redacted

SheetList = Literal[
    "current_state",
    "user_intent",
    "next_steps",
    "decisions",
    "constraints",
    "active_files",
    "errors",
    "worklog",
]
# List of an answer → section of SESSION.md.
_SECTIONS = {
    "current_state": "Current State",
    "user_intent": "User Intent",
    "active_files": "Active Files",
    "decisions": "Decisions",
    "constraints": "Constraints",
    "errors": "Errors & Corrections",
    "next_steps": "Next Steps",
    "worklog": "Worklog",
}
# A guard against an answer that runs on; a long window changes some ten lines.
MOST_LINES_CHANGED = 24
MOST_LINES = 10
"""Lines that a list of the sheet keeps, the newest ones: open loops stand in MEMORY.md too."""
_BULLETS = ("- ", "* ", "+ ")


class SheetLine(Struct, frozen=True):
    """A line of the sheet under its heading; a bullet of ours has an `id`, all else none."""

    heading: str
    text: str
    id: str = ""


def sheet_lines(session: str) -> Iterator[SheetLine]:
    """The lines of SESSION.md that are not empty, without headings; our bullets are `s1`, `s2` …"""
    heading, number = "", 0
    for line in filter(str.strip, session.splitlines()):
        if line.startswith("#"):
            heading = line
        elif line.startswith(_BULLETS) and _title(heading) in _SECTIONS.values():
            number += 1
            yield SheetLine(heading, line[2:].strip(), f"s{number}")
        else:
            yield SheetLine(heading, line)


def shown_lines(session: str) -> Iterator[str]:
    """The lines as a prompt shows them, without headings that have nothing below them."""
    heading = ""
    for line in sheet_lines(session):
        if line.heading != heading:
            heading = line.heading
            yield heading
        yield f"[{line.id}] {redacted(line.text)}" if line.id else redacted(line.text)


def changed_sections(
    session: str, remove: Collection[str], add: Iterable[tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    """The sections that change, with their lines: without the ids to `remove`, the added ones last.

    `add` are pairs of a list's name and a text. Of more than `MOST_LINES` the newest stay.
    """
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for line in sheet_lines(session):
        if line.id:
            before.setdefault(_title(line.heading), []).append(line.text)
            if line.id not in remove:
                after.setdefault(_title(line.heading), []).append(line.text)
    for name, text in add:
        lines = after.setdefault(_SECTIONS[name], [])
        if text not in lines:
            lines.append(text)
    return {
        title: tuple(after.get(title, ())[-MOST_LINES:])
        for title in _SECTIONS.values()
        if before.get(title, []) != after.get(title, [])
    }


def _title(heading: str) -> str:
    return heading.lstrip("#").strip()
