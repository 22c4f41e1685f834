"""The bot as DingTalk sees it: delivered, acknowledged, stored, answered, each once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.bots.dingtalk import conversation
from pipimem.runtime.channel import Channel, upkeep_of

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio


async def test_a_message_of_a_group_is_answered_and_remembered(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The answer goes to the webhook of its message, and names who asked."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.say("周五不许发布")
        await dingtalk.until(lambda: bool(dingtalk.said))
        said = dingtalk.said[0]
        assert (said.channel, said.text) == (GROUP, "re: 周五不许发布")
        assert said.body["at"] == {"atUserIds": ["staff-lin"]}
    assert await said_in(pipimem) == [
        ("user", "林晓", "周五不许发布"),
        ("assistant", "", "re: 周五不许发布"),
    ]
    (info,) = pipimem.store.channels()
    assert (info.id, info.kind, info.title) == (GROUP, "group", "发布群")


async def test_a_direct_message_is_a_channel_of_its_own(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """It is known by its conversation, and named after who writes."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.say("hello", channel="cidDm", conversationType="1", conversationTitle="")
        await dingtalk.until(lambda: bool(dingtalk.said))
        assert "at" not in dingtalk.said[0].body
    (info,) = pipimem.store.channels()
    assert (info.id, info.kind, info.title) == ("cidDm", "dm", "林晓")


async def test_without_a_model_it_answers_with_what_memory_found(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """An honest echo."""
    async with running() as pipimem:
        await dingtalk.say("hi")
        await dingtalk.until(lambda: len(dingtalk.said) == 1)
        channel = await pipimem.channel(GROUP)
        await channel.notes.remember("我们周五从不发布")
        await dingtalk.say("周五可以发布吗？")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
    assert "没有模型" in dingtalk.said[0].text
    assert "我们周五从不发布" in dingtalk.said[1].text


async def test_without_a_model_the_answer_has_what_was_said_too(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Memory found it in the transcript alone: who said it, and when."""
    async with running() as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        rain = Message.assistant("If it rains the museum is open until six.")
        await channel.talk.append(
            [rain, *(Message.user(f"ok {n}", speaker="Tom") for n in range(12))]
        )
        await channel.reset()
        assert "museum" not in (await upkeep_of(channel).notes()).memory.text
        channel._recall_service.transcript_recall.warm()  # done beside the turns, in a second
        await dingtalk.say("how long is the museum open if it rains?")
        await dingtalk.until(lambda: bool(dingtalk.said))
    (line,) = [line for line in dingtalk.said[0].text.splitlines() if "museum" in line]
    assert line.endswith("assistant: If it rains the museum is open until six.")


async def test_who_asks_to_forget_something_is_told_how(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Whatever the model says of it: asking forgets nothing. What the bot adds is not stored."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.say("忘掉我的手机号")
        await dingtalk.until(lambda: bool(dingtalk.said))
        await dingtalk.say("别忘了开会")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
    assert dingtalk.said[0].text.startswith("re: 忘掉我的手机号\n\n")
    assert "/forget" in dingtalk.said[0].text
    assert dingtalk.said[1].text == "re: 别忘了开会"
    assert [content for _, _, content in await said_in(pipimem)][1] == "re: 忘掉我的手机号"


async def test_what_is_said_to_others_is_remembered_and_not_answered(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The model is shown it when somebody speaks to the bot."""
    replies = ScriptedReplies()
    async with running(replies=replies) as pipimem:
        await dingtalk.say("Dana, lunch at noon?", isInAtList=False, senderNick="Tom")
        await dingtalk.say("what did Tom ask?")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [said.text for said in dingtalk.said] == ["re: what did Tom ask?"]
    ((_, context),) = replies.asked
    assert [(one.speaker, one.content) for one in context] == [("Tom", "Dana, lunch at noon?")]
    assert [content for _, _, content in await said_in(pipimem)] == [
        "Dana, lunch at noon?",
        "what did Tom ask?",
        "re: what did Tom ask?",
    ]


async def test_the_acknowledgement_does_not_wait_for_the_turn(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A model takes its time; what was said meanwhile is stored before its answer."""
    release = asyncio.Event()
    replies = ScriptedReplies(wait=lambda _: release.wait())
    async with running(replies=replies) as pipimem:
        for number in range(3):
            await dingtalk.acked(await dingtalk.say(f"question {number}"))
        assert dingtalk.said == []

        async def stored() -> list[str]:
            return [content for _, _, content in await said_in(pipimem)]

        with_limit = time.monotonic() + 60
        while not replies.asked or len(await stored()) < 3:
            assert time.monotonic() < with_limit
            await asyncio.sleep(0.01)
        assert await stored() == ["question 0", "question 1", "question 2"]
        release.set()
        await dingtalk.until(lambda: len(dingtalk.said) == 3)
    assert [said.text for said in dingtalk.said] == [f"re: question {n}" for n in range(3)]


async def test_a_channel_has_one_turn_at_a_time_and_others_do_not_wait(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A slow answer in one group holds nobody else up."""
    release = asyncio.Event()

    async def wait(query: str) -> None:
        if query.startswith("slow"):
            await release.wait()

    replies = ScriptedReplies(wait=wait)
    async with running(replies=replies):
        await dingtalk.say("slow one")
        await dingtalk.say("after it")
        await dingtalk.say("elsewhere", channel="cidOther")
        await dingtalk.until(lambda: bool(dingtalk.said))
        assert [said.text for said in dingtalk.said] == ["re: elsewhere"]
        release.set()
        await dingtalk.until(lambda: len(dingtalk.said) == 3)
    assert [s.text for s in dingtalk.said if s.channel == GROUP] == ["re: slow one", "re: after it"]


async def test_a_message_delivered_a_thousand_times_is_handled_once(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Each delivery is acknowledged, or it would come again."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for _ in range(1000):
            await dingtalk.say("once", message_id="msgOnce==")
        await dingtalk.say("twice")
        await dingtalk.until(lambda: dingtalk.ack_count == 1001 and len(dingtalk.said) == 2)
    assert [said.text for said in dingtalk.said] == ["re: once", "re: twice"]
    assert len(await said_in(pipimem)) == 4


async def test_a_message_delivered_again_after_a_restart_is_known(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Its id stands in the transcript."""
    async with running(replies=ScriptedReplies()):
        await dingtalk.say("once", message_id="msgOnce==")
        await dingtalk.until(lambda: len(dingtalk.said) == 1)
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.acked(await dingtalk.say("once", message_id="msgOnce=="))
        await dingtalk.say("next")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
    assert [said.text for said in dingtalk.said] == ["re: once", "re: next"]
    assert [content for _, _, content in await said_in(pipimem)] == [
        "once",
        "re: once",
        "next",
        "re: next",
    ]


async def test_a_stop_lets_turns_end(running: Running, dingtalk: FakeDingTalk) -> None:
    """What was asked before it is answered and stored."""
    replies = ScriptedReplies(wait=lambda _: asyncio.sleep(0.3))
    async with running(replies=replies) as pipimem:
        await dingtalk.say("one")
        await dingtalk.say("two")
        await dingtalk.until(lambda: dingtalk.ack_count == 2)
    assert [said.text for said in dingtalk.said] == ["re: one", "re: two"]
    assert len(await said_in(pipimem)) == 4


async def test_a_turn_that_does_not_end_is_cut_off_and_its_message_is_stored(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A stop takes its time, and no more."""
    replies = ScriptedReplies(wait=lambda _: asyncio.sleep(3600))
    async with running(replies=replies, grace=0.2) as pipimem:
        await dingtalk.say("never answered")
        await dingtalk.until(lambda: bool(replies.asked))
    assert await said_in(pipimem) == [("user", "林晓", "never answered")]


async def test_an_answer_that_does_not_arrive_was_not_said(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The message is remembered; the next one is answered."""
    dingtalk.hook_code = 310000
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.say("one")
        await dingtalk.say("two")
        await dingtalk.until(lambda: dingtalk.hooks_refused == 2)
        dingtalk.hook_code = 0
        await dingtalk.say("three")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert await said_in(pipimem) == [
        ("user", "林晓", "one"),
        ("user", "林晓", "two"),
        ("user", "林晓", "three"),
        ("assistant", "", "re: three"),
    ]


async def test_ids_of_people_are_nowhere_but_on_the_wire(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Neither in what the model reads nor in a file."""
    replies = ScriptedReplies()
    async with running(replies=replies) as pipimem:
        await dingtalk.say("who am I?")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert "staff-lin" not in repr(replies.asked)
    for path in pipimem.store.root.rglob("*"):
        if path.is_file():
            assert b"staff-lin" not in path.read_bytes()
            assert b"LWCP" not in path.read_bytes()


def logs_of(workspace: Path) -> str:
    return "".join(path.read_text("utf-8") for path in workspace.glob("channels/*/log.jsonl"))


async def test_channels_that_cannot_be_opened_hold_no_other_up(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are tried again for a while, more of them than are stored at a time."""
    real, tried = Pipimem.channel, 0

    async def refuse(self: Pipimem, name: str, **more: Any) -> Any:
        nonlocal tried
        if name.startswith("cidBroken"):
            tried += 1
            raise StoreError("the folder cannot be read")
        return await real(self, name, **more)

    monkeypatch.setattr(Pipimem, "channel", refuse)
    monkeypatch.setattr(conversation, "_TRY_AGAIN", (3600.0,))
    async with running(replies=ScriptedReplies(), grace=0.1):
        for number in range(4):
            await dingtalk.say("hello", channel=f"cidBroken{number}")
        await dingtalk.until(lambda: tried == 4)
        await dingtalk.say("hello", channel="cidWhole")
        await dingtalk.until(lambda: bool(dingtalk.said))


async def test_what_is_said_is_stored_while_turns_wait_for_a_model(
    running: Running, dingtalk: FakeDingTalk, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One may reorder what was found, within `before_turn`, and take its time."""
    waiting = 0

    async def slow(self: Channel, text: str, **_: Any) -> Any:
        nonlocal waiting
        waiting += 1
        await asyncio.sleep(3600)

    monkeypatch.setattr(Channel, "before_turn", slow)
    async with running(replies=ScriptedReplies(), grace=0.1):
        for number in range(2):
            await dingtalk.say(f"question {number}", channel=f"cid{number}")
        await dingtalk.until(lambda: waiting == 2)
        for number in range(2, 8):
            await dingtalk.say(f"question {number}", channel=f"cid{number}")
        await dingtalk.until(lambda: logs_of(workspace).count("question") == 8)
        assert waiting == 2
