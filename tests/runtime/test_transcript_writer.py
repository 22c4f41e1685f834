"""What a gate stored of a turn is stored once, though its messages have no ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipimem import Channel, Message, StoreError, Turn
from pipimem.store.channel import ChannelStore

from tests.runtime.building import Hands, opened, read, workspace

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]

ASKED, CALLED, DONE = Message.user("move the stand-up"), Message.assistant("calling"), "moved"
PRINTED = Message("tool", "calendar: ok")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace."""
    return workspace(tmp_path)


def stored(root: Path) -> list[str]:
    """What the transcript holds, oldest first."""
    return [json.loads(line)["content"] for line in read(root, "log.jsonl").splitlines()]


async def turn(channel: Channel, hands: Hands) -> Turn:
    """A turn that begins a minute after what was before."""
    hands.pass_by(minutes=1)
    begun = await channel.before_turn("move the stand-up")
    hands.pass_by(minutes=1)
    return begun


async def test_a_gate_within_a_turn(root: Path) -> None:
    """The host's context is full in the middle of a turn with tools; it goes on after it."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        begun = await turn(channel, hands)
        receipt = await channel.before_compaction([ASKED, CALLED, PRINTED])
        await channel.compacted(receipt)
        await channel.after_turn(begun, [ASKED, CALLED, PRINTED, Message.assistant(DONE)])
        texts = [ASKED.content, CALLED.content, PRINTED.content, DONE]
        assert stored(root) == texts
        again = await turn(channel, hands)
        await channel.after_turn(again, [ASKED, Message.assistant(DONE)])
        assert stored(root) == [*texts, ASKED.content, DONE]


@pytest.mark.parametrize("has_turn", [True, False])
async def test_a_gate_just_before_a_turn(root: Path, has_turn: bool) -> None:
    """It looks at its context when a message comes in, and asks memory about it after that."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        await channel.before_compaction([Message.user("hello"), Message.assistant("hi"), ASKED])
        begun = await turn(channel, hands) if has_turn else None
        await channel.after_turn(begun, [ASKED, Message.assistant(DONE)])
        assert stored(root) == ["hello", "hi", ASKED.content, DONE]
        later = await turn(channel, hands) if has_turn else None
        await channel.after_turn(later, [ASKED, Message.assistant("hi")])
        assert stored(root)[4:] == [ASKED.content, "hi"]


async def test_turns_at_once_take_each_message_of_a_gate_once(root: Path) -> None:
    """Two people say the same; the gate knew of one of them."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        one, other = await turn(channel, hands), await turn(channel, hands)
        await channel.before_compaction([ASKED])
        await channel.after_turn(one, [ASKED, Message.assistant(DONE)])
        await channel.after_turn(other, [ASKED, Message.assistant(DONE)])
        assert stored(root) == [ASKED.content, DONE, ASKED.content, DONE]


async def test_a_message_with_an_id_is_known_by_it(root: Path) -> None:
    """Said twice, it is written twice, whatever a gate stored."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        begun = await turn(channel, hands)
        await channel.before_compaction([Message.user("yes", id="a")])
        await channel.after_turn(begun, [Message.user("yes", id="a"), Message.user("yes", id="b")])
        assert stored(root) == ["yes", "yes"]


async def test_a_turn_that_the_disk_refused_is_stored_when_it_comes_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what the gate stored of it is still known."""
    hands = Hands()
    async with opened(root, hands=hands) as channel:
        begun = await turn(channel, hands)
        await channel.before_compaction([ASKED])
        messages = [ASKED, Message.assistant(DONE)]

        def full(*_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(ChannelStore, "append", full)
            with pytest.raises(StoreError):
                await channel.after_turn(begun, messages)
        await channel.after_turn(begun, messages)
        assert stored(root) == [ASKED.content, DONE]
