"""What is acknowledged is on the disk, whatever the disk does, and what may not be there is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.bots.dingtalk import arrival_writer as module
from pipimem.bots.dingtalk import bot as bot_module
from pipimem.bots.dingtalk import conversation
from pipimem.runtime.arrival_journal import ArrivalJournal
from pipimem.runtime.talk import ChannelTalk

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio


def journal_of(workspace: Path) -> str:
    """What stands in the arrival journal now."""
    path = workspace / ".pipimem" / "dingtalk-arrivals.jsonl"
    return path.read_text("utf-8") if path.exists() else ""


def logs_of(workspace: Path) -> str:
    """What stands in the transcripts now."""
    return "".join(path.read_text("utf-8") for path in workspace.glob("channels/*/log.jsonl"))


class Held:
    """Transcripts that take nothing until `release`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.release = asyncio.Event()
        real = ChannelTalk.append

        async def slow(channel: ChannelTalk, messages: Sequence[Message]) -> tuple[Message, ...]:
            if messages:
                await self.release.wait()
            return await real(channel, messages)

        monkeypatch.setattr(ChannelTalk, "append", slow)


@pytest.fixture
async def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """A disk that is slow where channels are."""
    return Held(monkeypatch)


async def test_what_is_acknowledged_is_on_the_disk(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """It can be killed then: what is acknowledged is not delivered again."""
    async with running(replies=ScriptedReplies()):
        for number in range(8):
            name = await dingtalk.say(f"message {number}", channel=f"cid{number % 3}")
            await dingtalk.acked(name)
            # The journal is emptied only after the transcript has it.
            assert f"message {number}" in journal_of(workspace) + logs_of(workspace)
        await dingtalk.until(lambda: len(dingtalk.said) == 8)
    assert journal_of(workspace) == ""


async def test_a_journal_that_is_slow_holds_up_what_is_not_stored(
    running: Running, dingtalk: FakeDingTalk, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no acknowledgement in advance; DingTalk delivers it again, and it is taken once."""
    monkeypatch.setattr(module, "_LONGEST_WAIT", 0.2)

    def refuse(self: ArrivalJournal, *_: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(ArrivalJournal, "commit", refuse)
    async with running(replies=ScriptedReplies()) as pipimem:
        for _ in range(2):
            name = await dingtalk.say("hello", message_id="msgFull==")
            assert (await dingtalk.acked(name))["code"] == 500
        held.release.set()
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 200
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]


async def test_many_that_wait_are_written_with_one_wait_for_the_disk(
    running: Running, dingtalk: FakeDingTalk, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group commit: a wait for each would be too long for the last."""
    commits: list[int] = []
    real = ArrivalJournal.commit

    def count(self: ArrivalJournal, added: Any, over: Any) -> None:
        commits.append(len(list(added)))
        real(self, added, over)

    monkeypatch.setattr(ArrivalJournal, "commit", count)
    async with running(replies=ScriptedReplies()):
        for number in range(100):
            await dingtalk.say(f"message {number}", channel=f"cid{number}")
        await dingtalk.until(lambda: dingtalk.ack_count == 100)
        assert sum(commits) == 100
        assert len(commits) < 80
        held.release.set()
        await dingtalk.until(lambda: len(dingtalk.said) == 100)


async def test_a_thousand_deliveries_stand_in_the_journal_once(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, held: Held
) -> None:
    """Each is acknowledged."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for _ in range(1000):
            await dingtalk.say("once", message_id="msgOnce==")
        await dingtalk.until(lambda: dingtalk.ack_count == 1000)
        assert journal_of(workspace).count("\n") == 1
        held.release.set()
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["once", "re: once"]


async def test_nothing_off_the_record_is_in_the_journal(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, held: Held
) -> None:
    """Nor what comes while the bot has not got to the command yet, nor a command's own words."""
    seen: list[str] = []
    async with running(replies=ScriptedReplies()):
        await dingtalk.acked(await dingtalk.say("before"))
        await dingtalk.say("/forget the cake")
        await dingtalk.say("/private on")
        await dingtalk.say("the cake is a surprise")
        for _ in range(10):
            await asyncio.sleep(0.02)
            seen.append(journal_of(workspace))
        held.release.set()
        await dingtalk.until(lambda: len(dingtalk.said) == 4)
        await dingtalk.acked(await dingtalk.say("more of the cake"))
        seen.append(journal_of(workspace))
        await dingtalk.until(lambda: len(dingtalk.said) == 5)
    assert "before" in seen[0]
    assert "cake" not in "".join(seen)
    assert "cake" not in logs_of(workspace)


async def test_what_cannot_be_stored_anywhere_is_asked_for_again(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not acknowledged, and taken as new when it is delivered again."""
    monkeypatch.setattr(conversation, "_TRY_AGAIN", (0.01,))
    real, write = Pipimem.channel, ArrivalJournal.commit

    async def refuse(self: Pipimem, *_: Any, **__: Any) -> None:
        raise StoreError("no space left on device")

    def refuse_too(self: ArrivalJournal, *_: Any) -> None:
        raise StoreError("no space left on device")

    async with running(replies=ScriptedReplies()) as pipimem:
        monkeypatch.setattr(Pipimem, "channel", refuse)
        monkeypatch.setattr(ArrivalJournal, "commit", refuse_too)
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 500
        monkeypatch.setattr(Pipimem, "channel", real)
        monkeypatch.setattr(ArrivalJournal, "commit", write)
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 200
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]


async def test_what_only_the_journal_has_is_stored_later(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DingTalk does not deliver it again: the bot tries until the disk takes it."""
    monkeypatch.setattr(conversation, "_TRY_AGAIN", (0.3,))
    monkeypatch.setattr(bot_module, "_AGAIN_SECONDS", 0.05)
    real, refused = Pipimem.channel, 0

    async def refuse(self: Pipimem, *arguments: Any, **more: Any) -> Any:
        nonlocal refused
        refused += 1
        if refused <= 3:
            raise StoreError("the folder cannot be read")
        return await real(self, *arguments, **more)

    monkeypatch.setattr(Pipimem, "channel", refuse)
    async with running(replies=ScriptedReplies()) as pipimem:
        name = await dingtalk.say("hello")
        assert (await dingtalk.acked(name))["code"] == 200
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]
    assert journal_of(workspace) == ""


async def test_a_message_stored_with_its_turn_leaves_the_journal_then(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the disk refused it at first."""

    async def refuse(self: ChannelTalk, messages: Sequence[Message]) -> None:
        raise StoreError("no space left on device")

    monkeypatch.setattr(ChannelTalk, "append", refuse)
    release = asyncio.Event()
    replies = ScriptedReplies(wait=lambda _: release.wait())
    async with running(replies=replies) as pipimem:
        assert (await dingtalk.acked(await dingtalk.say("hello")))["code"] == 200
        await dingtalk.until(lambda: bool(replies.asked))
        assert "hello" in journal_of(workspace)
        release.set()
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]
    assert journal_of(workspace) == ""


async def test_a_message_taken_back_is_acknowledged_when_that_is_durable(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, held: Held
) -> None:
    """Else a kill would bring its words back."""
    event = "user_im_message_recall_group"
    body = {"openMessageId": "msgOops==", "openConversationId": GROUP}
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.acked(await dingtalk.say("a bike", message_id="msgOops=="))
        name = await dingtalk.frame("EVENT", "*", {"payload": {"body": body}}, eventType=event)
        assert (await dingtalk.acked(name))["code"] == 200
        assert "taken_back" in journal_of(workspace)
        held.release.set()
        while "a bike" in logs_of(workspace) or not logs_of(workspace):
            await asyncio.sleep(0.01)
    assert (await said_in(pipimem))[0] == ("user", "林晓", "")
    assert journal_of(workspace) == ""
