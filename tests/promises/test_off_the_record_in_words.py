"""What is said off the record in words is not learnt and not shown by turns or tools (promise 4).

It stays in the transcript. MCP shows what the tools show: tests/interfaces/promises/.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.promises.front_door import (
    Channel,
    Consolidated,
    HistoryItem,
    Kind,
    Learned,
    Message,
    Refreshed,
    ScriptedAssistant,
    call_tool,
    maintain,
    note,
    remember,
    take_in,
)
from tests.promises.rooms import ASYNCIO, context, context_with, opened, say, traces

pytestmark = ASYNCIO
KNOWN = (
    "off the record: quetzal will resign in May",
    "quetzal will resign in May, but that is off the record",
    "don't write this down: quetzal will resign in May",
    "别记下来：quetzal 五月要辞职",
    "这事别记，quetzal 五月要辞职",
    "between us, off the record, quetzal will resign in May",
    "不要记录：quetzal 五月要辞职",
    "keep this off the record. quetzal will resign in May",
    "这个不要记住：quetzal 五月要辞职",
    "please do not remember this: quetzal will resign in May",
    "quetzal will resign in May. Please don't keep that.",
)


async def talk(channel: Channel, text: str) -> None:
    """A turn with the text, whose answer repeats it, among other talk; then a compaction."""
    said = [Message.user(text, speaker="Dana", id="said")]
    said.append(Message.assistant("Ok: quetzal resigns in May. I keep it to myself.", id="answer"))
    await channel.after_turn(await channel.before_turn(text, speaker="Dana"), said)
    await say(channel, "We decided that the lantern release is on Thursday", speaker="Tom")
    others = [Message.user(f"ticket {number} is closed", speaker="Tom") for number in range(9)]
    await take_in(channel, others)
    await channel.compacted(await channel.before_compaction())
    await maintain(channel)


@pytest.mark.parametrize("text", KNOWN)
async def test_it_is_not_learnt(workspace: Path, text: str) -> None:
    """No file has it but the transcript, the answer of the bot neither."""
    async with opened(workspace) as channel:
        await talk(channel, text)
    assert set(traces(workspace, ["quetzal"])) == {"channels/room/log.jsonl"}
    assert "lantern" in note(workspace, "room")


@pytest.mark.parametrize("text", KNOWN)
async def test_no_turn_shows_it(workspace: Path, text: str) -> None:
    """Neither as an entry nor as an excerpt; other talk is shown."""
    async with opened(workspace) as channel:
        await talk(channel, text)
        await context_with(channel, "which ticket is closed, ticket 3?", "ticket 3")
        shown = await context(channel, "when will quetzal resign, in May?")
    assert "quetzal" not in shown


@pytest.mark.parametrize("text", [KNOWN[0], KNOWN[3]])
async def test_no_tool_shows_it(workspace: Path, text: str) -> None:
    """Not by a search, around a message, or by its id."""
    async with opened(workspace) as channel:
        await talk(channel, text)
        shown = [
            await call_tool(channel, "memory_search", query="lantern release"),
            await call_tool(channel, "memory_search", query="quetzal resign 辞职"),
            await call_tool(channel, "memory_search", around="said"),
            await call_tool(channel, "memory_search", ids=["said", "answer"]),
        ]
    assert "lantern" in shown[0]
    assert "quetzal" not in "\n".join(shown)
    assert all("off the record was left out" in answer for answer in shown[1:])


@pytest.mark.parametrize("wish", ["that was off the record", "刚才那句别记"])
async def test_a_wish_about_what_was_just_said_counts(workspace: Path, wish: str) -> None:
    """The wish comes behind what it is about."""
    async with opened(workspace) as channel:
        await say(channel, "quetzal will resign in May")
        await say(channel, wish)
        await channel.compacted(await channel.before_compaction())
    assert set(traces(workspace, ["quetzal"])) == {"channels/room/log.jsonl"}


async def test_no_model_of_memory_is_asked_with_it(workspace: Path) -> None:
    """The window that a model reads has neither the message nor its answer."""
    fact = Learned(Kind.DECISION, "the lantern release is on Thursday", ("m1",), "Dana")
    answer = Consolidated((fact,), history=(HistoryItem("of a release", ("m1",)),), sheet={})
    model = ScriptedAssistant({"consolidate": [answer] * 4, "refresh": [Refreshed()] * 4})
    async with opened(workspace, assistant=model) as channel:
        await talk(channel, KNOWN[0])
    asked = "\n".join(map(str, model.asked)) + "\n".join(
        message.content for task in model.asked for message in getattr(task, "window", ())
    )
    assert "lantern" in asked
    assert "quetzal" not in asked


async def test_what_is_asked_to_be_kept_is_kept(workspace: Path) -> None:
    """Who speaks about the phrase, or of records of another kind, takes nothing out."""
    texts = ("the off-the-record rule is kept in the wiki", "the record player is broken")
    async with opened(workspace) as channel:
        for text in texts:
            await remember(channel, text)
        await say(channel, "Dana holds the record of the club: 48 laps, remember that")
        await channel.before_compaction()
    kept = note(workspace, "room")
    assert [text for text in (*texts, "48 laps") if text not in kept] == []
    assert len([json.loads(x) for x in note(workspace, "room", "log.jsonl").splitlines()]) == 2
