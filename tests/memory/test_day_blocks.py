"""Bullets stand under the day of their talk; a day ends with the date and two silent hours."""

from __future__ import annotations

from datetime import datetime

from pipimem.memory.day_blocks import by_day, day_blocks, day_ends, of_ended_days
from pipimem.notes.operations import Bullet

from tests.cases import each


def at(time: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-{time}+08:00")


def said(*times: str) -> list[Bullet]:
    return [Bullet(time, (), 0, at(time).isoformat()) for time in times]


@each(
    ("first", "last", "ends"),
    [
        ("02T09:00", "02T18:00", "03T00:00"),
        ("02T09:00", "02T23:30", "03T01:30"),
        ("02T23:50", "03T00:10", "03T02:10"),
        ("03T00:10", "03T00:10", "04T00:00"),
    ],
)
def test_a_day_ends_when_the_date_changed_and_two_hours_were_silent(
    first: str, last: str, ends: str
) -> None:
    """Whichever comes later."""
    assert day_ends(at(first), at(last)) == at(ends)


def test_talk_past_midnight_belongs_to_the_day_it_began_on() -> None:
    """Until it is silent for two hours."""
    days = by_day(said("02T23:30", "03T01:00", "03T09:00", "02T20:00"))
    assert [[bullet.text for bullet in day] for day in days] == [
        ["02T20:00", "02T23:30", "03T01:00"],
        ["03T09:00"],
    ]


@each(
    ("now", "newest", "closed", "ends"),
    [
        ("03T18:00", "03T10:00", 1, "04T00:00"),  # the newest day goes on
        ("04T00:00", "03T10:00", 2, "04T00:00"),
        ("04T00:00", "03T23:00", 1, "04T01:00"),  # somebody spoke an hour ago
        ("04T01:00", "03T23:00", 2, "04T01:00"),
        ("09T10:00", "09T09:00", 2, "04T00:00"),  # spoken of nothing worth a line since
    ],
)
def test_only_days_that_are_over_are_closed(now: str, newest: str, closed: int, ends: str) -> None:
    """Older days are over whatever is said now."""
    over = of_ended_days(said("01T09:00", "03T10:00"), at(now), lambda: at(newest))
    assert (len(over[0]), over[1]) == (closed, at(ends))


def test_nothing_waiting_is_no_day() -> None:
    """And bullets of unknown time, as older ledgers have them, wait for nothing."""
    assert of_ended_days((), at("03T10:00"), lambda: None) == ((), None)
    assert of_ended_days([Bullet("old")], at("03T10:00"), lambda: None)[0] == (Bullet("old"),)


def test_a_block_of_another_day_begins_and_ends_with_its_bullets() -> None:
    """The bounds of the talk are those of the first and the last day."""
    first, second = day_blocks(
        said("01T09:00", "03T10:00", "03T11:00"), at("01T08:00"), at("03T12:00"), "T"
    )
    assert (first.start, first.end, first.title) == (at("01T08:00"), at("01T09:00"), "")
    assert (second.start, second.end, second.title) == (at("03T10:00"), at("03T12:00"), "T")
