"""The slash commands, as people type them into a group."""

from __future__ import annotations

import asyncio
import json

import pytest
from pipimem import Pipimem

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio


async def asked(dingtalk: FakeDingTalk, text: str, **more: object) -> str:
    """Say something, and return what the bot says to it."""
    before = len(dingtalk.said)
    await dingtalk.say(text, **more)
    await dingtalk.until(lambda: len(dingtalk.said) > before)
    return dingtalk.said[-1].text


async def texts(pipimem: Pipimem) -> list[str]:
    return [content for _, _, content in await said_in(pipimem)]


async def test_a_command_is_no_talk(running: Running, dingtalk: FakeDingTalk) -> None:
    """It is answered and not stored; another word behind a slash is talk."""
    async with running(replies=ScriptedReplies()) as pipimem:
        assert "/memory" in await asked(dingtalk, "/help")
        assert await asked(dingtalk, "/shrug") == "re: /shrug"
    assert await texts(pipimem) == ["/shrug", "re: /shrug"]


async def test_memory_shows_the_three_files_without_secrets(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A whole group reads it."""
    async with running(replies=ScriptedReplies()) as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.notes.remember("我们周五从不发布")
        (info,) = pipimem.store.channels()
        path = info.folder / "MEMORY.md"
        path.write_text(path.read_text("utf-8") + "- password: hunter2-Xy77zz\n", "utf-8")
        shown = await asked(dingtalk, "／MEMORY")
    assert "**MEMORY.md**" in shown
    assert "我们周五从不发布" in shown
    assert "hunter2" not in shown


async def test_forget_lists_what_would_go_and_does_it_after_a_yes(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The yes is no talk either; the model is not shown what was forgotten."""
    replies = ScriptedReplies()
    async with running(replies=replies) as pipimem:
        await asked(dingtalk, "我家门口那只猫叫Momo")
        await asked(dingtalk, "今天下雨")
        listed = await asked(dingtalk, "/forget Momo")
        assert "- 聊天记录：我家门口那只猫叫Momo" in listed
        assert "下雨" not in listed
        assert "- 聊天记录：名字林晓" in await asked(dingtalk, "/forget 林晓")
        await asked(dingtalk, "不")
        await asked(dingtalk, "/forget Momo")
        assert await texts(pipimem) != []
        assert "消息 2 条" in await asked(dingtalk, "是的。")
        await asked(dingtalk, "还记得吗")
    assert await texts(pipimem) == ["", "", "今天下雨", "re: 今天下雨", "还记得吗", "re: 还记得吗"]
    assert "Momo" not in repr(replies.asked[-1][1])


@pytest.mark.parametrize("answer", ["不要", "再说吧"])
async def test_forget_does_nothing_without_a_yes(
    running: Running, dingtalk: FakeDingTalk, answer: str
) -> None:
    """A no is said to; what is neither is talk, and a later yes is too late."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo")
        await asked(dingtalk, "/forget Momo")
        await asked(dingtalk, answer)
        assert await asked(dingtalk, "是") == "re: 是"
    assert "the cat is Momo" in await texts(pipimem)


async def test_a_yes_of_somebody_else_forgets_nothing(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Who asked answers."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo")
        await asked(dingtalk, "/forget Momo")
        other = {"senderStaffId": "staff-tom", "senderNick": "Tom"}
        assert await asked(dingtalk, "是", **other) == "re: 是"
        assert "消息 2 条" in await asked(dingtalk, "是")
    assert "the cat is Momo" not in await texts(pipimem)


async def test_a_yes_of_nobody_in_particular_forgets_nothing(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Two whom the platform does not name may be two people."""
    nobody = {"senderStaffId": None, "senderId": None}
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo")
        await asked(dingtalk, "/forget Momo", **nobody)
        assert await asked(dingtalk, "是", **nobody) == "re: 是"
    assert "the cat is Momo" in await texts(pipimem)


async def test_a_yes_to_a_list_that_did_not_arrive_forgets_nothing(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Nobody saw what would go."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo")
        dingtalk.hook_code = 1
        await dingtalk.say("/forget Momo")
        await dingtalk.until(lambda: dingtalk.hooks_refused == 1)
        dingtalk.hook_code = 0
        assert await asked(dingtalk, "是") == "re: 是"
    assert "the cat is Momo" in await texts(pipimem)


async def test_forget_of_nothing_says_so(running: Running, dingtalk: FakeDingTalk) -> None:
    """And of no text, too."""
    async with running(replies=ScriptedReplies()):
        assert "没有找到" in await asked(dingtalk, "/forget 从没说过")
        assert "请写明" in await asked(dingtalk, "/forget")


async def test_private_leaves_no_trace_also_over_a_restart(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A promise that a restart would break is none."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "before")
        assert "不记录" in await asked(dingtalk, "/private on")
        assert await asked(dingtalk, "the cake is a surprise") == "re: the cake is a surprise"
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "still a surprise cake")
        assert "不记录" in await asked(dingtalk, "/private")
        assert "恢复" in await asked(dingtalk, "/private off")
        await asked(dingtalk, "after")
    assert await texts(pipimem) == ["before", "re: before", "after", "re: after"]
    for path in pipimem.store.root.rglob("*"):
        assert not path.is_file() or b"surprise" not in path.read_bytes()


async def test_private_counts_from_the_next_message_on_however_fast_it_comes(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """All of it arrives at once."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for text in ("a", "/private on", "secret plan", "/private off", "b"):
            await dingtalk.say(text)
        await dingtalk.until(lambda: len(dingtalk.said) == 5)
    assert sorted(await texts(pipimem)) == ["a", "b", "re: a", "re: b"]


async def test_new_ends_the_session(running: Running, dingtalk: FakeDingTalk) -> None:
    """What was said is learnt from, and the model is shown it no more."""
    replies = ScriptedReplies()
    async with running(replies=replies) as pipimem:
        await asked(dingtalk, "我们决定：周五不许发布")
        assert "新的一段" in await asked(dingtalk, "/new")
        await asked(dingtalk, "next")
        (info,) = pipimem.store.channels()
        assert "周五不许发布" in (info.folder / "MEMORY.md").read_text("utf-8")
    assert replies.asked[-1][1] == []
    assert replies.asked[-1][0].first


async def test_usage_tells_what_models_cost(running: Running, dingtalk: FakeDingTalk) -> None:
    """Without a model nothing."""
    async with running(replies=ScriptedReplies()):
        assert "调用 0 次" in await asked(dingtalk, "/usage")


async def test_it_speaks_english_where_it_is_told_to(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Its own sentences; what people say stays as it is."""
    async with running(replies=ScriptedReplies(), language="en"):
        await asked(dingtalk, "the cat is Momo")
        assert (await asked(dingtalk, "/forget Momo")).startswith("This would be forgotten")
        assert await asked(dingtalk, "yes") == "Forgotten: 0 places with entries, 2 messages."


def recalled(dingtalk: FakeDingTalk, name: str) -> dict[str, object]:
    """The event of a message that was taken back."""
    body = {
        "openMessageId": name,
        "openConversationId": GROUP,
        "recaller": "林晓",
        "msgRecallTime": "2026-11-23 10:00:00",
    }
    return {"eventId": "e1", "eventKey": "user_im_message_recall_group", "payload": {"body": body}}


async def take_back(dingtalk: FakeDingTalk, name: str) -> None:
    event = "user_im_message_recall_group"
    frame = await dingtalk.frame("EVENT", "*", recalled(dingtalk, name), eventType=event)
    assert (await dingtalk.acked(frame))["code"] == 200


async def test_a_message_taken_back_is_emptied_and_undo_goes_on(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Nothing was learnt from it: what came before can be undone all the same."""
    replies = ScriptedReplies()
    async with running(replies=replies) as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.notes.remember("we never deploy on Fridays")
        await asked(dingtalk, "oops, wrong group: the surprise is a bike", message_id="msgOops==")
        await take_back(dingtalk, "msgOops==")
        await asked(dingtalk, "hello")
        assert "bike" not in repr([m for m in replies.asked[-1][1] if m.role == "user"])
        # Delivered once more it is known.
        await dingtalk.acked(await dingtalk.say("the surprise is a bike", message_id="msgOops=="))
        await asked(dingtalk, "bye")
        log = await channel.history.log()
        assert [change.task for change in log] == ["retract", "remember"]
        assert log[0].changes == ()
        await channel.history.undo()
        assert [entry.text for entry in await channel.notes.entries()] == []
    assert (await said_in(pipimem))[0] == ("user", "林晓", "")
    assert "the surprise is a bike" not in (await texts(pipimem))


async def test_a_message_taken_back_from_which_something_was_learnt_is_forgotten(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The entry goes with it."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "我们决定：周五不许发布", message_id="msgRule==")
        await asked(dingtalk, "/new")
        (info,) = pipimem.store.channels()
        memory = info.folder / "MEMORY.md"
        assert "周五不许发布" in memory.read_text("utf-8")
        await take_back(dingtalk, "msgRule==")
        await asked(dingtalk, "hello")
        assert "周五不许发布" not in memory.read_text("utf-8")
        assert (await said_in(pipimem))[0] == ("user", "林晓", "")


async def test_a_message_taken_back_before_its_turn_is_not_answered(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Nor is one that nobody knows any trouble."""

    release = asyncio.Event()
    replies = ScriptedReplies(wait=lambda _: release.wait())
    async with running(replies=replies) as pipimem:
        await dingtalk.say("first")
        await dingtalk.say("mistake", message_id="msgMistake==")
        await take_back(dingtalk, "msgMistake==")
        await take_back(dingtalk, "msgUnknown==")
        await dingtalk.until(lambda: bool(replies.asked))
        while "mistake" in await texts(pipimem) or len(await texts(pipimem)) < 2:
            await asyncio.sleep(0.01)
        release.set()
        await asked(dingtalk, "last")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
    assert [said.text for said in dingtalk.said] == ["re: first", "re: last"]


async def test_other_events_are_acknowledged_and_nothing_else(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """All events of the app come in."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for data in ({}, {"payload": []}, "no JSON", {"eventKey": "user_im_message_recall_group"}):
            text = data if isinstance(data, str) else json.dumps(data)
            name = await dingtalk.frame("EVENT", "*", text, eventType="user_im_message_recall_o2o")
            assert (await dingtalk.acked(name))["code"] == 200
        assert pipimem.store.channels() == ()
