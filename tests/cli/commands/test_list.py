"""`pipimem list`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_list_shows_entries_with_what_is_known_of_them(call: Call) -> None:
    """Kind, trust, since when, recalls and expiry; a line each."""
    call("remember", "room", "never fire without gloves", "--kind", "constraint")
    call("remember", "room", "the kiln is lent to Ines", "--until", "2090-03-02")
    head, *rows = [line.split("\t") for line in call("list", "room").out.splitlines()]
    assert head == ["id", "kind", "trust", "since", "recalls", "expires", "entry"]
    found = {row[-1]: row for row in rows}
    assert found["never fire without gloves"][1:3] == ["constraint", "explicit"]
    assert found["the kiln is lent to Ines"][5] == "2090-03-03"
    (only,) = call("list", "room", "--kind", "constraint", "--json").lines
    assert (only["text"], only["recalls"]) == ("never fire without gloves", 0)
    assert call("list", "room", "--older-than", "30d").out.count("\n") == 0
    assert "there is no such entry" in call("list", "room", "--trust", "human").err


def test_list_and_blame_tell_who_was_there(call: Call, conversation: Path) -> None:
    """As names, in the order in which they first spoke."""
    call("replay", "room", str(conversation))
    for command in ("list", "blame"):
        heard = [line["heard_by"] for line in call(command, "room", "--json").lines]
        assert ["alice", "bob", "林晓"] in heard, command
