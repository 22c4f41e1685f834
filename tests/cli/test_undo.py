"""`pipimem undo`."""

from __future__ import annotations

from pathlib import Path

from pipimem.clock import Clock
from pipimem.notes.operations import Author, Decision, Invalidate
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call


def test_undo_takes_back_the_newest_change_and_says_how_to_bring_it_back(call: Call, bot: Path) -> None:
    """For eyes what left, on standard error the way back."""
    call("remember", "room", "端口是 8080")
    memory = bot / "channels/room/MEMORY.md"
    before = memory.read_bytes()
    call("remember", "room", "Bob likes tea")
    told = call("undo", "room")
    assert (told.code, memory.read_bytes()) == (0, before)
    assert "  taken out MEMORY.md · Facts: Bob likes tea" in told.out.splitlines()
    assert told.err == "`pipimem undo room 3` brings it back\n"
    again = call("undo", "room", "3", "--json")
    assert (again.object["undone"], again.object["seq"], again.object["task"]) == (3, 4, "undo")
    assert "Bob likes tea" in memory.read_text()


def test_what_stays_in_the_archive_is_told(call: Call, bot: Path) -> None:
    """An entry that went to the archive comes back, and its copy stays there: said, not silent."""
    call("remember", "room", "窗口是周五 the window is on Friday")
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=False)
    gone = Invalidate(store.notes().memory.entries[0].target, "over", archived=True)
    store.commit(Decision("expire", Author.RULE, (gone,)), Clock().now())
    store.close()
    assert call("undo", "room", "1").code == 1
    told = call("undo", "room")
    assert told.err.startswith("HISTORY.archive.md keeps its copy of this text")
    room = bot / "channels/room"
    assert "窗口" in (room / "MEMORY.md").read_text()
    assert "窗口" in (room / "HISTORY.archive.md").read_text()
    assert call("undo", "room", "3", "--json").object["archive_keeps_a_copy"] is False


def test_undo_ends_with_one_when_something_is_in_the_way(call: Call, bot: Path) -> None:
    """The sentence names the change; nothing was done."""
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(memory.read_text().replace("8080", "9090"))
    told = call("undo", "room", "1")
    assert (told.code, "was changed again by 2 (edit, editor" in told.err) == (1, True)
    assert "9090" in memory.read_text()


def test_undo_of_nothing_is_told(call: Call, bot: Path) -> None:
    """No change, a wrong number, no channel: 1; a word for a number: 2."""
    (bot / "channels/room").mkdir()
    assert call("undo", "room").code == 1
    call("remember", "room", "The port is 8080")
    assert (call("undo", "room", "7").code, call("undo", "hall").code, call("undo", "room", "x").code) == (1, 1, 2)
