"""Channels that are due are claimed by one host each."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.state.postgres import FleetDatabase
from pipimem.store.fleet.visits import Visits


@pytest.fixture
def visits(database: FleetDatabase) -> Visits:
    """The due times in a fresh database."""
    return Visits(database, "w")


def _left(visits: Visits, folder: str) -> timedelta | None:
    statement = "select due - now() from pipimem.visit where id = %(id)s"
    ((left,),) = visits.database.rows(statement, {"id": folder})
    return left  # type: ignore[no-any-return]


def test_what_is_due_is_claimed_once_the_longest_due_first(visits: Visits) -> None:
    """A second claim gives the others."""
    for folder, seconds in (("a", -10), ("b", -30), ("c", 60), ("d", -20)):
        visits.set(folder, seconds)
    assert sorted(visits.claim(2)) == ["b", "d"]
    assert visits.claim(5) == ["a"]
    assert visits.claim(5) == []


def test_a_claim_whose_claimer_died_comes_again(visits: Visits) -> None:
    """In a minute."""
    visits.set("a", -1)
    visits.claim(1)
    left = _left(visits, "a")
    assert left is not None
    assert timedelta(seconds=50) < left <= timedelta(minutes=1)


def test_a_due_time_is_as_it_was_set_last(visits: Visits) -> None:
    """Sooner, later, or not by the clock alone."""
    visits.set("a", 60)
    assert _left(visits, "a") < timedelta(seconds=61)  # type: ignore[operator]
    visits.set("a", -1)
    assert visits.claim(1) == ["a"]
    visits.set("a", None)
    assert _left(visits, "a") is None


def test_a_changed_file_makes_its_channel_due(visits: Visits) -> None:
    """A new one too; one whose mark stands does not."""
    assert sorted(visits.mark({"a": "1", "b": "1"}, -1)) == ["a", "b"]
    assert sorted(visits.claim(9)) == ["a", "b"]
    for folder in ("a", "b"):
        visits.set(folder, None)
    assert visits.mark({"a": "1", "b": "2"}, -1) == ["b"]
    assert visits.claim(9) == ["b"]


def test_what_waits_is_counted(visits: Visits) -> None:
    """What is due, and how much of it for five minutes or longer."""
    assert visits.waiting() == (0, 0)
    for folder, seconds in (("a", -301), ("b", -30), ("c", 60)):
        visits.set(folder, seconds)
    assert visits.waiting() == (2, 1)


def test_a_workspace_has_due_times_of_its_own(visits: Visits) -> None:
    """Another one in the same database is not given its channels."""
    visits.set("a", -1)
    other = Visits(visits.database, "other")
    assert other.claim(9) == []
    other.put_off(["a", "b"], -1)
    assert sorted(other.claim(9)) == ["a", "b"]
    assert visits.claim(9) == ["a"]
