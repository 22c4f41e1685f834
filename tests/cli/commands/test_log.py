"""`pipimem log`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Author, Decision, LeftOut, Progress
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call


def test_log_tells_who_changed_what_newest_first(call: Call, bot: Path, conversation: Path) -> None:
    """A command by a person, a model call, an edit; the channel's headings are Chinese already."""
    call("replay", "room", str(conversation))
    call("remember", "room", "The hall is open")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(memory.read_text() + "- typed by hand\n")
    call("remember", "room", "The port is 8080")
    rows = [line.split("\t") for line in call("log", "room").out.splitlines()]
    assert rows[0] == ["seq", "when", "who", "task", "what"]
    assert (rows[1][2], rows[1][3], rows[1][4]) == (
        "person",
        "remember",
        "added MEMORY.md · 事实: The port is 8080",
    )
    assert rows[2][3] == "edit"
    assert "consolidate" in {row[3] for row in rows}


def test_log_is_cut_to_the_newest_and_readable_by_scripts(call: Call) -> None:
    """`-n` records, one JSON line each."""
    for number in range(5):
        call("remember", "room", f"Hall {number} is painted")
    lines = call("log", "room", "-n", "2", "--json").lines
    assert [line["changes"][0]["after"] for line in lines] == [
        "Hall 4 is painted",
        "Hall 3 is painted",
    ]  # type: ignore[index]
    assert lines[0]["seq"] > lines[1]["seq"]  # type: ignore[operator]


def test_what_was_left_out_is_listed_and_taken_in(call: Call, bot: Path) -> None:
    """With number, reason and text; a number that is not there is a sentence."""
    call("remember", "room", "Hall 1 is painted")
    store = ChannelStore.open(WorkspaceStore(bot), "room", create=False)
    items = (LeftOut("over a bound", "Ida has a dog", kind=Kind.FACT, speaker="Ida"),)
    decision = Decision("consolidate", Author.MODEL, progress=Progress(cursor=1), left_out=items)
    store.commit(decision, datetime.now(UTC))
    rows = [line.split("\t") for line in call("log", "room", "--left-out").out.splitlines()]
    assert rows[0] == ["n", "when", "what", "who", "messages", "why", "text"]
    assert (rows[1][0], *rows[1][2:]) == ("1", "fact", "Ida", "", "over a bound", "Ida has a dog")
    assert "1 thing left out of memory" in call("status").err
    call("log", "room", "--left-out", "--take", "1")
    assert "Ida has a dog" in (bot / "channels/room/MEMORY.md").read_text()
    assert call("log", "room", "--left-out").err == "nothing was left out\n"
    assert "no number 1" in call("log", "room", "--left-out", "--take", "1").err
    assert "together with --left-out" in call("log", "room", "--take", "1").err


def test_a_channel_without_changes_says_so(call: Call, bot: Path) -> None:
    """A folder made by hand has no changes yet."""
    (bot / "channels" / "room").mkdir()
    assert call("log", "room").err == "nothing was changed yet\n"


def test_how_far_it_came_is_told_in_plain_words(call: Call, conversation: Path) -> None:
    """`cursor is now 66` says nothing to who did not write this."""
    call("replay", "room", str(conversation))
    out = call("log", "room").out
    assert "is now" not in out
