"""`pipimem conflicts`."""

from __future__ import annotations

from tests.cli.conftest import Call


def test_pairs_are_listed_and_settled(call: Call) -> None:
    """One kept, or both; a pair that is settled is listed no more."""
    call("remember", "room", "the gate opens at 8:00")
    call("remember", "room", "the gate opens at 9:00", "--kind", "decision")
    head, row = [line.split("\t") for line in call("conflicts", "room").out.splitlines()]
    assert head == ["older", "since", "entry", "newer", "since", "entry"]
    assert (row[2], row[5]) == ("the gate opens at 8:00", "the gate opens at 9:00")
    (pair,) = call("conflicts", "room", "--json").lines
    older, newer = pair["older"]["id"], pair["newer"]["id"]
    assert "settled MEMORY.md" in call("conflicts", "room", "--both", older, newer).out
    assert "nothing contradicts anything" in call("conflicts", "room").err
    call("undo", "room", "--yes")
    told = call("conflicts", "room", "--keep", newer, older, "--json").object
    assert [change["verb"] for change in told["changes"]] == ["invalidated"]  # type: ignore[index]
    assert "8:00" not in call("show", "room", "memory").out


def test_what_is_asked_for_must_be_clear(call: Call) -> None:
    """One way or the other, of two entries that are there."""
    call("remember", "room", "the gate opens at 8:00")
    assert call("conflicts", "room", "--keep", "a", "b", "--both", "a", "b").code == 2
    told = call("conflicts", "room", "--keep", "a", "b")
    assert (told.code, "No entry of MEMORY.md has the id" in told.err) == (1, True)
