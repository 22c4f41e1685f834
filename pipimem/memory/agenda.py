"""The agenda: open loops by day and person, and those that are due today or overdue.

The day is the field `due` of an entry's record. It is never read out of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from msgspec import Struct

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.text.quotes import read_quote

# A turn shows so many. More would take the room of what was asked for.
_MOST_SHOWN = 3


class OpenLoop(Struct, frozen=True):
    """An entry with the day it is due, `None` for no day, and who is to do it, as far as known."""

    entry: Entry
    due: date | None
    person: str = ""


def agenda(notes: Notes) -> tuple[OpenLoop, ...]:
    """Return the open loops by day and person: overdue ones first, those without a day last."""
    return tuple(sorted(_open_loops(notes), key=_day_and_person))


def due_now(loops: Iterable[OpenLoop], today: date) -> tuple[OpenLoop, ...]:
    """Return at most three open loops of an agenda that are due today or overdue, in its order.

    Of more the latest: what has been overdue for months does not hide what is due today.
    """
    found = [loop for loop in loops if loop.due is not None and loop.due <= today]
    return tuple(found[-_MOST_SHOWN:])


def _day_and_person(loop: OpenLoop) -> tuple[date, str, int]:
    return loop.due or date.max, loop.person.casefold(), loop.entry.start


def _open_loops(notes: Notes) -> Iterator[OpenLoop]:
    """Yield the bullets of MEMORY.md that are open loops, or that have a day on which they are due.

    Under a heading of people's own the record says what an entry is.
    """
    for entry in notes.memory.entries:
        record = notes.record(entry.id) or Record(Trust.HUMAN)
        kind = kind_of(entry.section) or record.kind
        if entry.bullet and (record.due or kind == Kind.OPEN_LOOP):
            day = date.fromisoformat(record.due) if record.due else None
            yield OpenLoop(entry, day, record.speaker or read_quote(entry.text).name)
