"""`pipimem agenda`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_open_loops_of_all_channels_by_day(call: Call, bot: Path) -> None:
    """Or of one. A day that is past is called overdue."""
    call("remember", "room", "pay the rent", "--due", "2090-03-02", "--speaker", "Ann")
    call("remember", "yard", "buy cake", "--due", "2090-02-01")
    call("remember", "room", "call Bo", "--kind", "open_loop")
    head, *rows = [line.split("\t") for line in call("agenda").out.splitlines()]
    assert head == ["due", "who", "channel", "id", "entry"]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        ("2090-02-01", "", "yard", "buy cake"),
        ("2090-03-02", "Ann", "room", "pay the rent"),
        ("", "", "room", "call Bo"),
    ]
    told = call("agenda", "room", "--json").lines
    assert [(line["due"], line["overdue"]) for line in told] == [
        ("2090-03-02", False),
        (None, False),
    ]
    (bot / "channels" / "yard" / "MEMORY.md").write_bytes(b"\xff\xfe\x00")
    assert "pay the rent" in call("agenda").out


def test_nothing_is_open(call: Call) -> None:
    """A note says so."""
    call("remember", "room", "the gate is green")
    assert "nothing is open" in call("agenda").err
    assert call("agenda", "nowhere").code == 1
