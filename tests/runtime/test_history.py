"""The changes of a channel for hosts: found by number, looked back at, looked at before an undo."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pipimem import ArgumentError, Author, Channel, File, Message, NothingFound
from pipimem.errors import CannotTakeBack
from pipimem.results import LoggedChange

from tests.cases import each
from tests.runtime.building import Hands, opened, read, workspace, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


async def three_facts(channel: Channel) -> None:
    for text in ("the port is 8080", "the host is bonn", "the door is blue"):
        await channel.notes.remember(text)


async def test_the_log_in_pieces(root: Path) -> None:
    """Newest first, on from any change."""
    async with opened(root) as channel:
        await three_facts(channel)
        newest, second = await channel.history.log(2)
        (oldest,) = await channel.history.log(2, before=second.number)
        assert [newest.number, second.number, oldest.number] == [3, 2, 1]
        assert await channel.history.change(2) == second
        for number in (4, 99):
            with pytest.raises(NothingFound, match=f"no change {number}"):
                await channel.history.change(number)
        with pytest.raises(ArgumentError):
            await channel.history.change(0)


async def test_a_change_says_what_took_it_back(root: Path) -> None:
    """And not once that is taken back itself."""
    async with opened(root) as channel:
        await three_facts(channel)
        undo = (await channel.history.undo(2)).number
        assert (await channel.history.change(2)).undone_by == undo
        again = (await channel.history.undo(undo)).number
        assert (await channel.history.change(undo)).undone_by == again
        assert (await channel.history.change(2)).undone_by == 0


async def test_the_texts_of_a_moment(root: Path) -> None:
    """After a change, at a time, and now with what a hand wrote since."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        await channel.notes.remember("the port is 8080")
        then = hands.now
        hands.pass_by(days=1)
        await channel.notes.remember("the host is bonn")
        first = (await channel.history.texts(1))[File.MEMORY]
        assert "8080" in first
        assert "bonn" not in first
        assert (await channel.history.texts(then + timedelta(hours=1)))[File.MEMORY] == first
        write(root, "MEMORY.md", "- by hand\n" + read(root))
        assert (await channel.history.texts())[File.MEMORY] == read(root)
        assert "by hand" not in (await channel.history.texts(2))[File.MEMORY]
        with pytest.raises(NothingFound):
            await channel.history.texts(9)


async def test_what_an_undo_would_leave_is_what_it_leaves(root: Path) -> None:
    """Nothing is changed by looking; what cannot be taken back says so beforehand."""
    async with opened(root) as channel:
        await three_facts(channel)
        before = read(root)
        left = await channel.history.without(2)
        assert read(root) == before
        assert "bonn" not in left[File.MEMORY]
        await channel.history.undo(2)
        assert read(root) == left[File.MEMORY]
        with pytest.raises(CannotTakeBack, match="was taken back by"):
            await channel.history.without(2)
        with pytest.raises(NothingFound):
            await channel.history.without(9)


async def test_a_change_tells_which_messages_it_read(root: Path) -> None:
    """Where it came of talk; what a person asks for reads none."""
    async with opened(root) as channel:
        await channel.talk.append(
            [Message.user("Decision: we release on Thursday.", speaker="Ann")]
        )
        await channel.before_compaction()
        await channel.notes.remember("the port is 8080")
        asked, learnt = await channel.history.log(2)
        if learnt.messages is None:  # a compaction leaves a change of its own
            (learnt,) = await channel.history.log(1, before=learnt.number)
        assert asked.messages is None
        assert learnt.messages == (1, 1)


@each(
    ("why", "messages"),
    [
        ("messages 121–150", (121, 150)),
        ("messages 3–5, set aside before: no answer", (3, 5)),
        ("messages 3–5 set aside: no answer", (3, 5)),
        ("failed: messages 3–5 in windows of 400 characters: no answer", (3, 5)),
        ("failed: no answer to messages 3–5", None),
        ("asked for", None),
    ],
)
def test_what_was_set_aside_names_its_messages(why: str, messages: tuple[int, int] | None) -> None:
    """When it is set aside, and when it is learnt at last."""
    change = LoggedChange(7, "2026-03-02T09:00:00+00:00", Author.MODEL, "", "consolidate", why)
    assert change.messages == messages
