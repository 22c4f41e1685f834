"""The review card: one entry after the other, answered within the acknowledgement."""

from __future__ import annotations

import asyncio
import json

import pytest
from pipimem import Pipimem
from pipimem.errors import LockTimeout
from pipimem.runtime.notes import ChannelNotes

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies
from tests.servers.dingtalk import CARDS, FakeDingTalk

pytestmark = pytest.mark.anyio

TEMPLATE = "review.schema"
# Whoever clicks may change what nobody in particular said.
LIN = ("staff-lin",)


async def sent(dingtalk: FakeDingTalk) -> tuple[str, dict[str, str]]:
    """The card that /review sends: its id and its values."""
    before = len(dingtalk.cards)
    await dingtalk.say("/review")
    await dingtalk.until(lambda: len(dingtalk.cards) > before)
    body = dingtalk.cards[-1].body
    assert body["cardTemplateId"] == TEMPLATE
    assert body["callbackType"] == "STREAM"
    assert body["openSpaceId"] == f"dtv1.card//IM_GROUP.{GROUP}"
    return body["outTrackId"], body["cardData"]["cardParamMap"]


async def learnt(pipimem: Pipimem, *texts: str) -> None:
    channel = await pipimem.channel(GROUP, kind="group")
    for text in texts:
        await channel.notes.remember(text)


async def entries(pipimem: Pipimem) -> list[str]:
    channel = await pipimem.channel(GROUP, kind="group")
    return [entry.text for entry in await channel.notes.entries()]


async def test_keep_edit_and_forget_go_through_what_is_remembered(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Each button shows the next entry; the newest comes first."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "tests run on every push", "the cat is Momo", "lunch is at noon")
        card, values = await sent(dingtalk)
        assert values["text"].endswith("lunch is at noon")
        assert (values["position"], values["done"]) == ("1 / 3", "false")
        values = dict(await dingtalk.click(card, "keep", entry=values["entry"]))
        assert values["text"].endswith("the cat is Momo")
        values = dict(await dingtalk.click(card, "forget", entry=values["entry"]))
        assert values["text"].endswith("tests run on every push")
        assert "已忘掉" in values["status"]
        values = dict(await dingtalk.click(card, "edit", entry=values["entry"]))
        assert "输入框" in values["status"]
        text = "tests run on every merge"
        values = dict(await dingtalk.click(card, "edit", entry=values["entry"], text=text))
        assert values["done"] == "true"
        found = await entries(pipimem)
    assert len(found) == 2
    assert any("every merge" in text for text in found)
    assert not any("Momo" in text for text in found)


async def test_a_click_counts_once(running: Running, dingtalk: FakeDingTalk) -> None:
    """Two fingers, or a frame delivered again."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "one stays", "two goes")
        card, values = await sent(dingtalk)
        entry = values["entry"]
        for _ in range(3):
            values = dict(await dingtalk.click(card, "forget", entry=entry))
            assert values["text"].endswith("one stays")
        assert len(await entries(pipimem)) == 1


async def test_a_card_outlives_a_restart_and_stays_with_its_channel(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """An entry of another channel, another card, and an unknown button do nothing."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "here")
        card, values = await sent(dingtalk)
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        other = await pipimem.channel("cidOther")
        await other.notes.remember("elsewhere")
        (foreign,) = await other.notes.entries()
        await dingtalk.click(card, "forget", entry=foreign.id)
        await dingtalk.click("pipimem-unknown", "forget", entry=foreign.id)
        await dingtalk.click(card, "explode", entry=values["entry"])
        assert len(await other.notes.entries()) == 1
        assert len(await entries(pipimem)) == 1
        after = await dingtalk.click(card, "forget", entry=values["entry"])
        assert (after["done"], await entries(pipimem)) == ("true", [])


async def test_what_a_person_typed_stays_and_what_is_gone_is_passed_over(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The card says why."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "the bot learnt this")
        (info,) = pipimem.store.channels()
        path = info.folder / "MEMORY.md"
        path.write_text(path.read_text("utf-8") + "- typed by hand\n", "utf-8")
        card, values = await sent(dingtalk)
        assert values["text"] == "typed by hand"
        after = await dingtalk.click(card, "forget", entry=values["entry"])
        assert "在文件里" in after["status"]
        path.write_text("# Memory\n", "utf-8")
        after = await dingtalk.click(card, "keep", entry=values["entry"])
        assert "已经不在" in after["status"]


async def test_without_a_template_or_entries_it_says_so(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """No card is sent."""
    async with running(replies=ScriptedReplies()):
        await dingtalk.say("/review")
        await dingtalk.until(lambda: len(dingtalk.said) == 1)
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN):
        await dingtalk.say("/review")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
    assert "--review-card" in dingtalk.said[0].text
    assert "还没有记住" in dingtalk.said[1].text
    assert dingtalk.cards == []


async def test_nonsense_of_a_card_is_acknowledged(running: Running, dingtalk: FakeDingTalk) -> None:
    """No click is in it."""
    topic = "/v1.0/card/instances/callback"
    async with running(replies=ScriptedReplies()):
        for data in ("no JSON", {}, {"content": "[]"}, {"content": {"cardPrivateData": 3}}):
            ack = await dingtalk.acked(await dingtalk.frame("CALLBACK", topic, data))
            assert ack["code"] == 200


@pytest.mark.parametrize("second", ["keep", "forget", "edit"])
async def test_of_two_members_who_tap_at_once_the_first_counts(
    running: Running, dingtalk: FakeDingTalk, second: str
) -> None:
    """The other one sees the next entry; what the first kept is not taken out."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "one stays", "two stays")
        card, values = await sent(dingtalk)
        entry = values["entry"]
        first, later = await asyncio.gather(
            dingtalk.click(card, "keep", entry=entry),
            dingtalk.click(card, second, entry=entry, text="something else"),
        )
        assert "已保留" in first["status"]
        assert (later["status"], later["position"]) == ("", "2 / 2")
        assert await entries(pipimem) == ["one stays", "two stays"]


async def test_a_card_whose_entry_was_edited_meanwhile_leaves_the_new_one(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Nobody has seen it on the card."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "one stays", "the port is 8080")
        card, values = await sent(dingtalk)
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.notes.update(values["entry"], "the port is 9090")
        after = await dingtalk.click(card, "forget", entry=values["entry"])
        assert "不在了" in after["status"]
        assert await entries(pipimem) == ["one stays", "the port is 9090"]


async def test_clicks_without_ids_are_not_taken_for_one(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Each of them is done."""
    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "one goes", "two goes")
        card, values = await sent(dingtalk)
        for _ in range(2):
            (entry,) = {one.id for one in await (await pipimem.channel(GROUP)).notes.entries()} & {
                values["entry"]
            }
            content = {"cardPrivateData": {"actionIds": ["forget"], "params": {"entry": entry}}}
            data = {"outTrackId": card, "userId": "staff-lin", "content": json.dumps(content)}
            left = len(await entries(pipimem))
            await dingtalk.frame("CALLBACK", CARDS, data, messageId="")
            while len(await entries(pipimem)) == left:
                await asyncio.sleep(0.01)
            values = dict(await dingtalk.click(card, "none", entry=""))
        assert await entries(pipimem) == []


async def test_a_disk_that_refuses_is_not_taken_for_a_person(
    running: Running, dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card says that it failed, and stays where it is."""

    async def refuse(self: ChannelNotes, *names: str) -> None:
        raise LockTimeout("another process holds the channel")

    async with running(replies=ScriptedReplies(), review_template=TEMPLATE, admins=LIN) as pipimem:
        await learnt(pipimem, "one goes")
        card, values = await sent(dingtalk)
        with monkeypatch.context() as patch:
            patch.setattr(ChannelNotes, "take_out", refuse)
            status = (await dingtalk.click(card, "forget", entry=values["entry"]))["status"]
        assert "日志" in status
        after = await dingtalk.click(card, "forget", entry=values["entry"])
        assert "已忘掉" in after["status"]
