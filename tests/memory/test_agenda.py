"""Open loops by day and person, and which of them a turn shows."""

from __future__ import annotations

from datetime import timedelta

from pipimem.memory.agenda import agenda, due_now
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust

from tests.notes.building import NOW, notes_of

MEMORY = """## Facts

- the gate is green
- renew the lease

## Open Loops

- buy cake
- call Bo by 4 May
- send the slides
- Tom (2026-02-03): I'll fix the lamp
- water the plants
- pay the rent
"""
_DAYS = {
    "renew the lease": -40,
    "buy cake": 0,
    "send the slides": 3,
    "water the plants": 0,
    "pay the rent": -2,
}
_WHO = {"buy cake": "Nora", "water the plants": "Ann"}


def dated(days: dict[str, int]) -> Notes:
    """The notes with days that are so many days from now."""
    records = {
        entry.id: Record(
            Trust.EXPLICIT,
            kind="open_loop",
            speaker=_WHO.get(entry.text, ""),
            due=(NOW + timedelta(days=days[entry.text])).date().isoformat(),
        )
        for entry in notes_of(MEMORY).memory.entries
        if entry.text in days
    }
    return notes_of(MEMORY, ledger=Ledger(records=records))


def shown(notes: Notes) -> list[str]:
    return [loop.entry.text for loop in due_now(agenda(notes), NOW.date())]


def test_overdue_ones_come_first_and_those_without_a_day_last() -> None:
    """Of one day by person. What has a day is an open loop under any heading."""
    found = [(loop.entry.text, loop.person) for loop in agenda(dated(_DAYS))]
    assert found == [
        ("renew the lease", ""),
        ("pay the rent", ""),
        ("water the plants", "Ann"),
        ("buy cake", "Nora"),
        ("send the slides", ""),
        # A day in the text alone is none.
        ("call Bo by 4 May", ""),
        ("Tom (2026-02-03): I'll fix the lamp", "Tom"),
    ]


def test_three_are_shown_of_what_is_due_today_or_overdue() -> None:
    """What has been overdue for longest makes room for what is due today."""
    assert shown(dated(_DAYS)) == ["pay the rent", "water the plants", "buy cake"]


def test_nothing_is_due_before_its_day() -> None:
    """Neither is what has no day."""
    assert shown(dated({"send the slides": 1})) == []
    assert shown(dated({})) == []
    assert shown(dated({"send the slides": 0, "pay the rent": -1})) == [
        "pay the rent",
        "send the slides",
    ]
