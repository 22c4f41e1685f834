"""`pipimem blame`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_blame_tells_who_when_from_what_and_by_which_thought(
    call: Call, bot: Path, conversation: Path
) -> None:
    """What was said, what a person asked for, and what a hand wrote."""
    call("replay", "room", str(conversation))
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(memory.read_text() + "- 手写的一行\n")
    call("remember", "room", "Bob likes tea")
    found = {str(line["text"]): line for line in call("blame", "room", "memory", "--json").lines}
    said = next(line for text, line in found.items() if "2026-03-12" in text)
    assert (said["who"], said["sources"], said["task"], said["trust"]) == (
        "bob",
        ["r2"],
        "consolidate",
        "inferred",
    )
    assert str(said["when"]).startswith("2026-03-02T09:02")
    asked = found["The port is 8080"]
    assert (asked["who"], asked["task"], asked["trust"], asked["sources"]) == (
        "person",
        "remember",
        "explicit",
        [],
    )
    hand = found["手写的一行"]
    assert (hand["who"], hand["task"], hand["trust"]) == ("by hand", "edit", "human")
    rows = [line.split("\t") for line in call("blame", "room", "memory").out.splitlines()]
    assert rows[0] == ["when", "who", "from", "by", "where", "entry"]
    assert ["bob", "r2"] in [row[1:3] for row in rows]


def test_blame_tells_from_what_a_line_of_session_comes(
    call: Call, bot: Path, conversation: Path
) -> None:
    """It keeps no messages of its own: they are those of the same words in the other files; a line
    that a hand wrote rests on none.
    """
    call("replay", "room", str(conversation))
    session = bot / "channels/room/SESSION.md"
    session.write_text(session.read_text() + "- by hand\n")
    lines = call("blame", "room", "session", "--json").lines
    sources = {str(line["text"]): line["sources"] for line in lines}
    assert sources[
        "bob (2026-03-02): We decided: the lantern release is on Thursday 2026-03-12"
    ] == ["r2"]
    assert sources["by hand"] == []


def test_blame_of_other_files_and_of_a_folder_made_by_hand(
    call: Call, bot: Path, conversation: Path
) -> None:
    """History by its sources; what was there before anybody looked is by hand."""
    call("replay", "room", str(conversation))
    history = call("blame", "room", "history", "--json").lines
    assert history
    assert all(line["task"] == "consolidate" and line["sources"] for line in history)
    (bot / "channels/hall").mkdir()
    (bot / "channels/hall/MEMORY.md").write_text("- 旧的一行\n")
    (line,) = call("blame", "hall", "--json").lines
    assert (line["who"], line["seq"], line["text"]) == ("by hand", None, "旧的一行")


def test_an_entry_that_was_brought_back_keeps_its_origin(call: Call) -> None:
    """The change it came with first, and the undo."""
    call("remember", "room", "The port is 8080")
    call("undo", "room")
    call("undo", "room", "2")
    (line,) = call("blame", "room", "--json").lines
    assert (line["seq"], line["task"], line["brought_back_by"]) == (1, "remember", 3)
