"""What is acknowledged is in the transcript, whatever the disk does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.bots.dingtalk import bot as module
from pipimem.bots.dingtalk import conversation
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.talk import ChannelTalk

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio


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


async def test_what_is_acknowledged_is_in_the_transcript(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """It can be killed then: what is acknowledged is not delivered again."""
    async with running(replies=ScriptedReplies()):
        for number in range(8):
            name = await dingtalk.say(f"message {number}", channel=f"cid{number % 3}")
            await dingtalk.acked(name)
            assert f'"message {number}"' in logs_of(workspace)
        await dingtalk.until(lambda: len(dingtalk.said) == 8)


async def test_a_slow_disk_holds_the_acknowledgement_up(
    running: Running, dingtalk: FakeDingTalk, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none in advance; DingTalk delivers the message again, and it is taken once."""
    monkeypatch.setattr(module, "_LONGEST_WAIT", 0.2)
    async with running(replies=ScriptedReplies()) as pipimem:
        for _ in range(2):
            name = await dingtalk.say("hello", message_id="msgSlow==")
            assert (await dingtalk.acked(name))["code"] == 500
        monkeypatch.undo()
        held.release.set()
        name = await dingtalk.say("hello", message_id="msgSlow==")
        assert (await dingtalk.acked(name))["code"] == 200
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]


async def test_a_thousand_deliveries_are_acknowledged_when_the_message_is_stored(
    running: Running, dingtalk: FakeDingTalk, held: Held
) -> None:
    """Each of them, and the message is taken once."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for _ in range(1000):
            await dingtalk.say("once", message_id="msgOnce==")
        assert dingtalk.ack_count == 0
        held.release.set()
        await dingtalk.until(lambda: dingtalk.ack_count == 1000 and bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["once", "re: once"]


async def test_a_commit_holds_no_acknowledgement_up(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """Of this process or of another one, as an import or idle work."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.acked(await dingtalk.say("first"))
        await dingtalk.until(lambda: len(dingtalk.said) == 1)
        store = upkeep_of(await pipimem.channel(GROUP)).store
        began, may_end = threading.Event(), threading.Event()

        def hold() -> None:
            with store.channel_folder.lock.held():
                began.set()
                may_end.wait()

        committing = asyncio.ensure_future(asyncio.to_thread(hold))
        await asyncio.to_thread(began.wait)
        try:
            assert (await dingtalk.acked(await dingtalk.say("second")))["code"] == 200
            await dingtalk.until(lambda: len(dingtalk.said) == 2)
            assert '"second"' in logs_of(workspace)
            assert not committing.done()
        finally:
            may_end.set()
            await committing


async def test_nothing_off_the_record_is_in_the_transcript(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, held: Held
) -> None:
    """Nor what comes while the bot has not got to the command yet, nor a command's own words."""
    async with running(replies=ScriptedReplies()):
        await dingtalk.say("before")
        await dingtalk.say("/forget the cake")
        await dingtalk.say("/private on")
        await dingtalk.say("the cake is a surprise")
        held.release.set()
        await dingtalk.until(lambda: len(dingtalk.said) == 4)
        await dingtalk.acked(await dingtalk.say("more of the cake"))
        await dingtalk.until(lambda: len(dingtalk.said) == 5)
    assert '"before"' in logs_of(workspace)
    assert "cake" not in logs_of(workspace)


async def test_what_cannot_be_stored_is_asked_for_again(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not acknowledged, and taken as new when it is delivered again."""
    monkeypatch.setattr(conversation, "_TRY_AGAIN", (0.01,))
    real = Pipimem.channel

    async def refuse(self: Pipimem, *_: Any, **__: Any) -> None:
        raise StoreError("no space left on device")

    async with running(replies=ScriptedReplies()) as pipimem:
        monkeypatch.setattr(Pipimem, "channel", refuse)
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 500
        monkeypatch.setattr(Pipimem, "channel", real)
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 200
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]


async def test_a_message_that_is_stored_with_its_turn_is_acknowledged_then(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the disk refused it at first."""

    async def refuse(self: ChannelTalk, messages: Sequence[Message]) -> None:
        raise StoreError("no space left on device")

    monkeypatch.setattr(ChannelTalk, "append", refuse)
    release = asyncio.Event()
    replies = ScriptedReplies(wait=lambda _: release.wait())
    async with running(replies=replies) as pipimem:
        name = await dingtalk.say("hello")
        await dingtalk.until(lambda: bool(replies.asked))
        assert dingtalk.ack_count == 0
        release.set()
        assert (await dingtalk.acked(name))["code"] == 200
    assert [content for _, _, content in await said_in(pipimem)] == ["hello", "re: hello"]


async def test_a_message_that_its_turn_cannot_store_either_is_asked_for_again(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for, and taken as new when it is delivered again."""

    async def refuse(*_: Any) -> None:
        raise StoreError("no space left on device")

    async with running(replies=ScriptedReplies()) as pipimem:
        with monkeypatch.context() as full:
            full.setattr(ChannelTalk, "append", refuse)
            full.setattr(Channel, "after_turn", refuse)
            name = await dingtalk.say("hello", message_id="msgFull==")
            assert (await dingtalk.acked(name))["code"] == 500
        name = await dingtalk.say("hello", message_id="msgFull==")
        assert (await dingtalk.acked(name))["code"] == 200
    assert (await said_in(pipimem))[0] == ("user", "林晓", "hello")


async def test_a_message_taken_back_is_acknowledged_when_that_is_durable(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, held: Held
) -> None:
    """Else a kill would bring its words back."""
    event = "user_im_message_recall_group"
    body = {"openMessageId": "msgOops==", "openConversationId": GROUP}
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.say("a bike", message_id="msgOops==")
        name = await dingtalk.frame("EVENT", "*", {"payload": {"body": body}}, eventType=event)
        held.release.set()
        assert (await dingtalk.acked(name))["code"] == 200
        assert "a bike" not in logs_of(workspace)
    assert (await said_in(pipimem))[0] == ("user", "林晓", "")
