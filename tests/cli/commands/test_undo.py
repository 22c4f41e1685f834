"""`pipimem undo`."""

from __future__ import annotations

from pathlib import Path

from pipimem.clock import Clock
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Invalidate, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call


def test_undo_takes_back_the_newest_change_and_says_how_to_bring_it_back(
    call: Call, bot: Path
) -> None:
    """For eyes what left, on standard error the way back."""
    call("remember", "room", "端口是 8080")
    memory = bot / "channels/room/MEMORY.md"
    before = memory.read_bytes()
    call("remember", "room", "Bob likes tea")
    told = call("undo", "room")
    assert (told.code, memory.read_bytes()) == (0, before)
    assert "  taken out MEMORY.md · 事实: Bob likes tea" in told.out.splitlines()
    assert told.err == "`pipimem undo room 3` brings it back\n"
    again = call("undo", "room", "3", "--json")
    assert (again.object["undone"], again.object["seq"], again.object["task"]) == (3, 4, "undo")
    assert "Bob likes tea" in memory.read_text()


def test_a_second_undo_names_the_older_change_and_asks(call: Call, bot: Path) -> None:
    """Who says it twice by mistake must not lose what they never meant; a number needs no asking."""
    memory = bot / "channels/room/MEMORY.md"
    for text in ("端口是 8080", "Bob likes tea", "The window is on Friday"):
        call("remember", "room", text)
    assert call("undo", "room").code == 0
    before = memory.read_bytes()
    for typed in ("", "n\n"):
        told = call("undo", "room", typed=typed)
        assert (told.code, memory.read_bytes()) == (1, before)
    assert "Take back change 2 (remember, " in told.err
    assert "  added MEMORY.md · 事实: Bob likes tea" in told.err.splitlines()
    assert call("undo", "room", typed="y\n").code == 0
    assert "Bob likes tea" not in memory.read_text()
    assert call("undo", "room", "--yes").code == 0
    assert "端口" not in memory.read_text()
    call("remember", "room", "Lunch is at noon")
    assert call("undo", "room").code == 0  # the newest change is no undo


def test_an_edit_by_hand_is_named_and_asked_for(call: Call, bot: Path) -> None:
    """No log has shown it yet, and who asks for the newest change may mean the one before."""
    memory = bot / "channels/room/MEMORY.md"
    call("remember", "room", "Bob likes tea")
    call("remember", "room", "The window is on Friday")
    edited = memory.read_text().replace("- Bob likes tea\n", "")
    memory.write_text(edited)
    told = call("undo", "room", typed="n\n")
    assert (told.code, memory.read_text()) == (1, edited)
    assert "typed into the files by hand, change 3" in told.err
    assert call("undo", "room", "2").code == 0
    assert "Friday" not in memory.read_text()
    assert "Bob" not in memory.read_text()


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
    assert (
        call("undo", "room", "7").code,
        call("undo", "hall").code,
        call("undo", "room", "x").code,
    ) == (1, 1, 2)


def test_all_that_models_did_is_taken_back_with_one_command(call: Call, bot: Path) -> None:
    """A person's word between their changes stays; what is in the way is told, and ends with 1."""
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=True)
    now = Clock().now()
    memory = bot / "channels/room/MEMORY.md"

    def by_model(*facts: str) -> None:
        added = tuple(Add(Kind.FACT, fact, Trust.INFERRED) for fact in facts)
        store.commit(Decision("consolidate", Author.MODEL, added), now)

    by_model("the port is 8080", "the window is on Friday")
    store.commit(
        Decision(
            "remember", Author.PERSON, (Add(Kind.PREFERENCE, "Bob likes tea", Trust.EXPLICIT),)
        ),
        now,
    )
    gone = Invalidate(store.notes().memory.entries[0].target, "over")
    store.commit(Decision("tidy", Author.MODEL, (gone,)), now)
    store.close()
    assert call("undo", "room", "--author", "model").code == 2
    assert call("undo", "room", "1", "--author", "model", "--since", "30d").code == 2
    assert call("undo", "room", "--author", "model", "--since", "30d", typed="n\n").code == 1
    told = call("undo", "room", "--author", "model", "--since", "30d", "--yes")
    assert (told.code, told.out.splitlines()[-1]) == (0, "2 of 2 changes of model were taken back")
    left = memory.read_text()
    assert ("8080" in left, "Friday" in left, "Bob likes tea" in left) == (False, False, True)
    none = call("undo", "room", "--author", "model", "--since", "30d")
    assert (none.code, none.out) == (0, "0 of 0 changes of model were taken back\n")


def test_a_change_that_is_in_the_way_does_not_stop_the_others(call: Call, bot: Path) -> None:
    """The others are taken back; the sentence names the one that was not."""
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=True)
    for fact in ("the port is 8080", "the window is on Friday"):
        added = (Add(Kind.FACT, fact, Trust.INFERRED),)
        store.commit(Decision("consolidate", Author.MODEL, added), Clock().now())
    store.close()
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(memory.read_text().replace("8080", "9090"))
    told = call("undo", "room", "--author", "model", "--since", "1h", "--yes")
    assert (told.code, "Change 1 cannot be taken back" in told.err) == (1, True)
    assert told.out.splitlines()[-1] == "1 of 2 changes of model were taken back"
    assert "9090" in memory.read_text()
    assert "Friday" not in memory.read_text()


def test_what_is_no_change_is_told_where_the_numbers_stand(call: Call) -> None:
    """A word or a zero is a misuse, a number beyond the newest says how far the changes reach."""
    call("remember", "room", "The port is 8080")
    for word in ("abc", "0", "1.5"):
        told = call("undo", "room", word)
        assert (
            told.code,
            f"{word!r} is not the number of a change" in told.err,
            "pipimem log" in told.err,
        ) == (
            2,
            True,
            True,
        )
    told = call("undo", "room", "99")
    assert (told.code, "There is no change 99" in told.err, "are kept from 1 " in told.err) == (
        1,
        True,
        True,
    )


def test_undo_of_an_author_says_that_a_forgetting_ended_what_was_before(call: Call) -> None:
    """Else "0 of 0 changes" looks as if there had been none."""
    call("remember", "room", "端口是 8080")
    call("remember", "room", "Bob likes tea")
    call("forget", "room", "端口是 8080", "--yes")
    told = call("undo", "room", "--author", "person", "--since", "30d", "--yes")
    assert "can no longer be taken back" in told.err
    assert "0 of 0 changes of person were taken back" in told.out
