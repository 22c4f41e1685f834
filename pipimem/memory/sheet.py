"""SESSION.md as whoever brings it up to date is shown it, and what follows from their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipimem.notes.headings import section_of
from pipimem.notes.notes import Note

# As many as the prompt asks for. A list that is full may have pushed an item out that still stands.
MOST_ITEMS = 6
_STATE = "Current State"


def shown_sheet(session: Note) -> str:
    """The text of SESSION.md with the standard headings, by which an answer names its lists.

    Under 下一步 nobody would look for what is under "Next Steps".
    """
    lines = list(session.document.lines)
    for section in session.document.sections:
        standard = section_of(section.title) if section.level else None
        if standard not in (None, section.title):
            lines[section.start] = f"{'#' * section.level} {standard}{session.document.eol}"
    return "".join(lines)


def without_taken_out(
    sections: Mapping[str, Sequence[str]], session: Note
) -> Mapping[str, Sequence[str]]:
    """The lists of an answer; what it takes out of one stands under Current State no more.

    A promise stands under Next Steps and there: once it is kept, it is over in both.
    """
    before = _items(session)
    gone = set[str]()
    for title, items in sections.items():
        if title != _STATE and len(items) < MOST_ITEMS:
            gone.update(before.get(title, ()))
    for title, items in {**before, **sections}.items():
        if title != _STATE:
            gone.difference_update(items)
    state = sections.get(_STATE, before.get(_STATE, ()))
    if gone.isdisjoint(state):
        return sections
    return {**sections, _STATE: [item for item in state if item not in gone]}


def _items(session: Note) -> dict[str, list[str]]:
    """The lines of SESSION.md by the standard names of their headings."""
    found: dict[str, list[str]] = {}
    for entry in session.entries:
        found.setdefault(section_of(entry.section) or entry.section, []).append(entry.text)
    return found
