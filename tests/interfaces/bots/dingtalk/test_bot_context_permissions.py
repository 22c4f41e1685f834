"""Who may change what a group remembers: everybody their own, and what others said with another."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.interfaces.bots.dingtalk.test_bot_acknowledgements import logs_of
from tests.interfaces.bots.dingtalk.test_commands import asked
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio

TOM = {"senderStaffId": "staff-tom", "senderId": "$:LWCP_v1:$tom", "senderNick": "Tom"}
EVE = {"senderStaffId": "staff-eve", "senderId": "$:LWCP_v1:$eve", "senderNick": "Eve"}


async def texts(pipimem: Pipimem) -> list[str]:
    return [content for _, _, content in await said_in(pipimem)]


async def test_what_others_said_needs_another_member(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The list says so; neither the yes nor the /confirm of who asked is enough."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        listed = await asked(dingtalk, "/forget Momo")
        assert "别人说的话" in listed
        assert "the cat is Momo" in listed
        assert await asked(dingtalk, "是") == "re: 是"
        assert "由别人确认" in await asked(dingtalk, "/confirm")
        assert "the cat is Momo" in await texts(pipimem)
        # Talk in between does not end it.
        await asked(dingtalk, "who agrees?")
        assert "消息 2 条" in await asked(dingtalk, "/confirm", **EVE)
        assert "the cat is Momo" not in await texts(pipimem)
        assert "没有等你确认" in await asked(dingtalk, "/confirm", **EVE)


async def test_the_no_of_who_asked_ends_it(running: Running, dingtalk: FakeDingTalk) -> None:
    """Then nobody can agree any more."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        await asked(dingtalk, "/forget Momo")
        assert "没有忘掉" in await asked(dingtalk, "不要")
        assert "没有等你确认" in await asked(dingtalk, "/confirm", **EVE)
        assert "the cat is Momo" in await texts(pipimem)


async def test_who_agrees_too_late_agrees_to_nothing(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ten minutes nobody remembers what it was."""
    monkeypatch.setattr("pipimem.bots.dingtalk.commands.CONFIRM_SECONDS", -1.0)
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        await asked(dingtalk, "/forget Momo")
        assert "没有等你确认" in await asked(dingtalk, "/confirm", **EVE)
        assert "the cat is Momo" in await texts(pipimem)


@pytest.mark.parametrize("admin", ["staff-lin", "union-lin"])
async def test_an_admin_needs_nobody(running: Running, dingtalk: FakeDingTalk, admin: str) -> None:
    """Known by the id that the platform gives: of the company's, or of the app's."""
    more = {"senderUnionId": "union-lin"}
    async with running(replies=ScriptedReplies(), admins=(admin,)) as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        assert "确定吗" in await asked(dingtalk, "/forget Momo", **more)
        await asked(dingtalk, "是", **more)
        assert "the cat is Momo" not in await texts(pipimem)


async def test_where_admins_agree_no_member_is_enough(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """`confirmed_by = "admin"`."""
    options: dict[str, Any] = {"admins": ("staff-eve",), "confirmed_by": "admin"}
    async with running(replies=ScriptedReplies(), **options) as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        assert "要管理员" in await asked(dingtalk, "/forget Momo")
        await asked(dingtalk, "/confirm", **TOM)
        assert "the cat is Momo" in await texts(pipimem)
        await asked(dingtalk, "/confirm", **EVE)
        assert "the cat is Momo" not in await texts(pipimem)


async def test_a_group_may_trust_everybody(running: Running, dingtalk: FakeDingTalk) -> None:
    """`confirmed_by = "self"`: the yes of who asks is enough."""
    async with running(replies=ScriptedReplies(), confirmed_by="self") as pipimem:
        await asked(dingtalk, "the cat is Momo", **TOM)
        await asked(dingtalk, "/forget Momo")
        await asked(dingtalk, "是")
        assert "the cat is Momo" not in await texts(pipimem)


async def test_who_takes_anothers_name_does_not_get_their_words(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Names can be changed in the app; also over a restart it is known whose one was first."""
    async with running(replies=ScriptedReplies()):
        await asked(dingtalk, "the cat is Momo", **TOM)
        await asked(dingtalk, "hello", **EVE)
    async with running(replies=ScriptedReplies()) as pipimem:
        false_tom = EVE | {"senderNick": "Tom"}
        assert "别人说的话" in await asked(dingtalk, "/forget Momo", **false_tom)
        await asked(dingtalk, "now I am Tom", **false_tom)
        # Two are called so: neither is told by the name.
        assert "别人说的话" in await asked(dingtalk, "/forget Momo", **false_tom)
        assert "别人说的话" in await asked(dingtalk, "/forget Momo", **TOM)
        # Under a new name what was said under one's old one is still one's own.
        await asked(dingtalk, "the dog is Rex", **EVE)
        renamed = EVE | {"senderNick": "Evelyn"}
        assert "确定吗" in await asked(dingtalk, "/forget Rex", **renamed)
        assert "the cat is Momo" in await texts(pipimem)


async def test_what_was_learnt_from_others_is_theirs(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Also where the message is one's own, and what nobody is named for."""
    async with running(replies=ScriptedReplies()) as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.talk.append([Message.user("the cat is Momo", id="m1", speaker="Tom")])
        await asked(dingtalk, "Momo is a nice name")
        assert "别人说的话" in await asked(dingtalk, "/forget Momo")
        await channel.notes.remember("lunch is at noon")
        assert "别人说的话" in await asked(dingtalk, "/forget noon")


async def test_a_yes_to_what_others_have_said_since_is_not_enough(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """It is listed once more, with the question to the others."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "the cat is Momo")
        assert "确定吗" in await asked(dingtalk, "/forget Momo")
        await asked(dingtalk, "Momo is mine", **TOM)
        assert "别人说的话" in await asked(dingtalk, "是")
        assert "Momo is mine" in await texts(pipimem)
        await asked(dingtalk, "/confirm", **TOM)
        assert "Momo is mine" not in await texts(pipimem)


async def test_in_a_direct_chat_all_of_it_is_ones_own(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """There is nobody else."""
    direct = {"channel": "cidDm", "conversationType": "1", "conversationTitle": ""}
    async with running(replies=ScriptedReplies()) as pipimem:
        channel = await pipimem.channel("cidDm")
        await channel.notes.remember("lunch is at noon")
        assert "确定吗" in await asked(dingtalk, "/forget noon", **direct)
        await asked(dingtalk, "是", **direct)
        assert await channel.notes.entries() == ()


async def test_everybody_may_go_off_the_record_and_who_did_may_come_back(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """Others might not know that they are recorded again: somebody agrees, after a restart, too."""
    async with running(replies=ScriptedReplies()):
        assert "不记录" in await asked(dingtalk, "/private on", **TOM)
    async with running(replies=ScriptedReplies()) as pipimem:
        assert "别人开的" in await asked(dingtalk, "/private off")
        await asked(dingtalk, "still a secret")
        await asked(dingtalk, "/confirm")
        await asked(dingtalk, "a secret, too")
        for text in ("/confirm", "recorded again"):
            await dingtalk.say(text, **EVE)
        await dingtalk.until(lambda: dingtalk.said[-1].text == "re: recorded again")
        await asked(dingtalk, "/private on", **TOM)
        assert "恢复" in await asked(dingtalk, "/private off", **TOM)
    assert await texts(pipimem) == ["recorded again", "re: recorded again"]
    assert "secret" not in logs_of(workspace)


async def test_confirm_with_more_behind_it_switches_nothing(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """It is no other command."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await asked(dingtalk, "/confirm on")
        await asked(dingtalk, "recorded")
    assert await texts(pipimem) == ["recorded", "re: recorded"]


async def test_a_card_forgets_what_others_said_when_two_press(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The same one twice is one; nobody but who said it or an admin edits."""
    options: dict[str, Any] = {"review_template": "review.schema"}
    async with running(replies=ScriptedReplies(), **options) as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.notes.remember("lunch is at noon")
        await dingtalk.say("/review")
        await dingtalk.until(lambda: bool(dingtalk.cards))
        card = dingtalk.cards[-1].body["outTrackId"]
        entry = dingtalk.cards[-1].body["cardData"]["cardParamMap"]["entry"]
        for _ in range(2):
            values = await dingtalk.click(card, "forget", entry=entry)
            assert "再有一个人" in values["status"]
        values = await dingtalk.click(card, "edit", entry=entry, text="lunch is at one")
        assert "只有说的人" in values["status"]
        assert len(await channel.notes.entries()) == 1
        values = await dingtalk.click(card, "forget", user="staff-tom", entry=entry)
        assert values["done"] == "true"
        assert await channel.notes.entries() == ()


async def test_ids_and_names_stand_in_no_file_of_the_bots(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """They are marks under a key of the file."""
    async with running(replies=ScriptedReplies(), admins=("staff-eve",)) as pipimem:
        await asked(dingtalk, "hello", **TOM)
        await asked(dingtalk, "/private on", **EVE)
        await asyncio.sleep(0)
        state = (pipimem.store.root / ".pipimem" / "dingtalk.json").read_text("utf-8")
    for word in ("staff-", "LWCP", "Tom", "Eve"):
        assert word not in state
