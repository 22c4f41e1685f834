"""`pipimem restore`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_restore_names_hand_edits_and_asks(call: Call, bot: Path) -> None:
    """A no leaves all as it is; a yes is one change that undo takes back."""
    call("remember", "room", "端口是 8080")
    memory = bot / "channels/room/MEMORY.md"
    then = memory.read_bytes()
    call("remember", "room", "Bob likes tea")
    memory.write_text(memory.read_text() + "- 手写的一行\n")
    now = memory.read_bytes()
    for answer in ("n\n", ""):
        told = call("restore", "room", "--to", "1", typed=answer)
        assert (told.code, "nothing was restored" in told.err, memory.read_bytes()) == (
            1,
            True,
            now,
        )
    assert "edited by hand, change 3" in told.err
    assert "  MEMORY.md: + - 手写的一行" in told.err.splitlines()
    done = call("restore", "room", "--to", "1", "--yes", "--json")
    assert (done.object["to"], done.object["edits"], memory.read_bytes()) == (1, [3], then)
    assert call("undo", "room").code == 0
    assert memory.read_bytes() == now


def test_restore_to_a_time_and_to_what_is_not_kept(call: Call, bot: Path) -> None:
    """A time before the first change is told as not kept, unless it is change 0."""
    call("remember", "room", "The port is 8080")
    assert "nothing was changed" in call("restore", "room", "--to", "2100-01-01", "--yes").out
    assert call("restore", "room", "--to", "7", "--yes").code == 1
    assert call("restore", "room", "--to", "yesterday", "--yes").code == 2
    assert call("restore", "room", "--to", "0", "--yes").code == 0
    assert "8080" not in (bot / "channels/room/MEMORY.md").read_text()


def test_where_it_cannot_go_it_says_what_is_possible(call: Call) -> None:
    """Words are no moment to go back to, numbers are; beyond the newest it says how far the
    changes reach.
    """
    call("remember", "room", "The port is 8080")
    told = call("restore", "room", "--to", "yesterday")
    assert (told.code, "2026-03-02T09:00, or give the number of a change" in told.err) == (2, True)
    told = call("restore", "room", "--to", "99")
    assert (told.code, "do not reach change 99. Changes are kept from 1 " in told.err) == (
        1,
        True,
    )


def test_restore_before_the_first_change_asks_twice(call: Call, bot: Path) -> None:
    """All of memory would go."""
    call("remember", "room", "the roof is red")
    assert call("restore", "room", "--to", "0", typed="y\n").code == 1
    assert "red" in (bot / "channels/room/MEMORY.md").read_text()
    assert call("restore", "room", "--to", "0", typed="y\ny\n").code == 0
    assert "red" not in (bot / "channels/room/MEMORY.md").read_text()
