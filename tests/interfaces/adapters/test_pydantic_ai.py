"""The capability of Pydantic AI, in agents of the library with a scripted model."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from pipimem import ArgumentError, Channel, Kind, Pipimem, StoreError
from pipimem.adapters.pydantic_ai import ChannelCapability
from pipimem.errors import ModelUnavailable, UnreadableNote
from pipimem.runtime import channel as channel_module
from pipimem.testing import ScriptedAssistant
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.runtime.building import opened, read, settings

pytestmark = pytest.mark.anyio

FRIDAY = "we never deploy on Fridays"
KILN = "the kiln takes eleven hours"
ASKED = "How long does the kiln take?"


class Scripted:
    """A model that answers as it is told, and keeps what it was shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.seen: list[tuple[str, list[ModelMessage], list[str]]] = []
        self.model = FunctionModel(self._answer)

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.seen.append(
            (info.instructions or "", messages, [tool.name for tool in info.function_tools])
        )
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            answer = await answer()
        part = answer if not isinstance(answer, str) else TextPart(answer)
        return ModelResponse(parts=[part])

    def parts(self, call: int = -1) -> str:
        """All that stood in messages, without instructions."""
        return " ".join(str(part) for message in self.seen[call][1] for part in message.parts)


def agent(scripted: Scripted, *capabilities: Any, **given: Any) -> Agent[Any, Any]:
    return Agent(scripted.model, instructions="You are pipi.", capabilities=capabilities, **given)


def said(root: Path) -> list[tuple[str, str]]:
    lines = read(root, "log.jsonl").splitlines()
    return [(line["role"], line["content"]) for line in map(json.loads, lines) if "role" in line]


async def remembered(channel: Channel) -> None:
    await channel.notes.remember(FRIDAY, kind=Kind.CONSTRAINT)
    await channel.notes.remember(KILN)


# ── what the model is shown ───────────────────────────────────────────────────────────────────────


async def test_the_first_turn_has_the_snapshot_and_each_what_is_recalled(root: Path) -> None:
    """As instructions, behind the agent's own; nothing of it stands in the messages."""
    async with opened(root) as channel:
        await remembered(channel)
        model = Scripted("hi", "Eleven hours.", "On Monday.")
        bot = agent(model, ChannelCapability(channel))
        result = await bot.run("hello")
        assert model.seen[0][0].startswith("You are pipi.\n\n# Soul")
        assert FRIDAY in model.seen[0][0]
        assert KILN in model.seen[0][0]
        result = await bot.run(ASKED, message_history=result.all_messages())
        assert KILN in model.seen[1][0]
        assert result.output == "Eleven hours."
        result = await bot.run("When do we deploy?", message_history=result.all_messages())
        assert FRIDAY in model.seen[2][0]
        assert KILN not in model.seen[2][0]
        assert KILN not in model.parts()


async def test_every_request_of_a_run_shows_the_same(root: Path) -> None:
    """Between a call of a tool and the answer the instructions stay."""
    async with opened(root) as channel:
        await remembered(channel)
        model = Scripted(ToolCallPart("oven", {}), "820 now.")
        bot = agent(model, ChannelCapability(channel))

        @bot.tool_plain
        def oven() -> str:
            return "820 degrees"

        await bot.run(ASKED)
        assert model.seen[0][0] == model.seen[1][0]
        assert said(root) == [("user", ASKED), ("tool", "820 degrees"), ("assistant", "820 now.")]


async def test_what_stands_in_the_history_is_not_shown_as_an_excerpt(root: Path) -> None:
    """Without the history it is."""
    async with opened(root) as channel:
        model = Scripted("noted", "There.", "There.")
        bot = agent(model, ChannelCapability(channel))
        first = await bot.run("the spare key hangs in the blue cupboard of the workshop")
        asked = "where does the spare key of the workshop hang?"
        await bot.run(asked, message_history=first.all_messages())
        assert "blue cupboard" not in model.seen[-1][0]
        await bot.run(asked)
        assert "blue cupboard" in model.seen[-1][0]


async def test_one_agent_serves_many_conversations(root: Path) -> None:
    """A capability handed in for the run; at the same time, and none sees another's memory."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        one, other = await pipimem.channel("one"), await pipimem.channel("other")
        await remembered(one)
        model = Scripted("a", "b")
        bot = agent(model)
        await asyncio.gather(
            bot.run(ASKED, capabilities=[ChannelCapability(one, "Dana")]),
            bot.run(ASKED, capabilities=[ChannelCapability(other, "Tom")]),
        )
        assert sorted(KILN in shown for shown, _, _ in model.seen) == [False, True]
        for channel, name in (("one", "Dana"), ("other", "Tom")):
            log = (root / "channels" / channel / "log.jsonl").read_text(encoding="utf-8")
            names = [json.loads(line)["name"] for line in log.splitlines() if ASKED in line]
            assert names == [name]


async def test_one_capability_serves_two_runs_at_once(root: Path) -> None:
    """Each run has a turn of its own."""
    async with opened(root) as channel:
        await remembered(channel)
        model = Scripted("a", "b")
        bot = agent(model, ChannelCapability(channel))
        await asyncio.gather(bot.run(ASKED), bot.run("hello"))
        assert sorted(said(root)) == [
            ("assistant", "a"),
            ("assistant", "b"),
            ("user", ASKED),
            ("user", "hello"),
        ]


# ── what is taken in ──────────────────────────────────────────────────────────────────────────────


async def test_a_run_is_taken_in_once(root: Path) -> None:
    """Though the next run's history has it again, and where the hook is called twice."""
    async with opened(root) as channel:
        model, memory = Scripted("one", "two"), ChannelCapability(channel, speaker="Dana")
        bot = agent(model, memory)
        first = await bot.run("first")
        await bot.run("second", message_history=first.all_messages())
        context = type("Context", (), {"run_id": first.run_id})()
        assert await memory.after_run(context, result=first) is first
        assert said(root) == [
            ("user", "first"),
            ("assistant", "one"),
            ("user", "second"),
            ("assistant", "two"),
        ]
        assert json.loads(read(root, "log.jsonl").splitlines()[0])["name"] == "Dana"


async def test_a_history_written_to_a_file_is_known_again(root: Path) -> None:
    """Hosts keep messages as JSON between two runs, or shorten them."""
    async with opened(root) as channel:
        model = Scripted("one", "two", "three")
        bot = agent(model, ChannelCapability(channel), retries=0)
        first = await bot.run("first")
        history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
        second = await bot.run("second", message_history=history)
        await bot.run("third", message_history=second.all_messages()[1:])
        assert [text for _, text in said(root)] == [
            "first",
            "one",
            "second",
            "two",
            "third",
            "three",
        ]


async def test_a_summary_of_the_host_is_not_taken_for_said(root: Path) -> None:
    """What a history processor puts in belongs to no run."""

    def summed(messages: list[ModelMessage]) -> list[ModelMessage]:
        return [ModelRequest([UserPromptPart("Summary: the kiln is blue")]), messages[-1]]

    async with opened(root) as channel:
        model = Scripted("one", "two")
        bot = agent(model, ChannelCapability(channel), ProcessHistory(summed))
        first = await bot.run("first")
        await bot.run("second", message_history=first.all_messages())
        assert "Summary" in model.parts()
        assert [text for _, text in said(root)] == ["first", "one", "second", "two"]


async def test_recalled_text_is_not_learnt_back(root: Path) -> None:
    """What a tool of memory returned is no news."""
    async with opened(root) as channel:
        await remembered(channel)
        model = Scripted(ToolCallPart("memory_search", {"query": "kiln"}), "It takes a while.")
        await agent(model, ChannelCapability(channel)).run("And the kiln?")
        assert KILN in model.parts()
        assert said(root) == [("user", "And the kiln?"), ("assistant", "It takes a while.")]


async def test_a_streamed_run_is_taken_in(root: Path) -> None:
    """`run_stream` ends with the same hook."""

    async def stream(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        yield "Eleven "
        yield "hours."

    async with opened(root) as channel:
        bot = Agent(
            FunctionModel(stream_function=stream), capabilities=[ChannelCapability(channel)]
        )
        async with bot.run_stream(ASKED) as result:
            assert await result.get_output() == "Eleven hours."
        assert said(root) == [("user", ASKED), ("assistant", "Eleven hours.")]


async def test_a_run_that_goes_on_without_a_prompt_has_memory(root: Path) -> None:
    """Its turn is that of the newest prompt in the history."""
    async with opened(root) as channel:
        await remembered(channel)
        await channel.reset()
        model = Scripted("Eleven.")
        history = [ModelRequest([UserPromptPart(ASKED)])]
        await agent(model, ChannelCapability(channel)).run(message_history=history)
        assert KILN in model.seen[0][0]
        assert said(root) == [("user", ASKED), ("assistant", "Eleven.")]


async def test_the_same_words_in_the_same_second_are_taken_in_twice(root: Path) -> None:
    """Providers tell the time of an answer in whole seconds."""
    moment = datetime(2026, 3, 2, tzinfo=UTC)

    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        parts: list[Any] = [TextPart("Let me look.")]
        if len(messages) < 5:
            parts.append(ToolCallPart("look", {}))
        return ModelResponse(parts, timestamp=moment)

    async with opened(root) as channel:
        bot = Agent(FunctionModel(answer), capabilities=[ChannelCapability(channel)])
        bot.tool_plain(name="look")(lambda: "")
        first = await bot.run(ASKED)
        assert [text for role, text in said(root) if role == "assistant"] == ["Let me look."] * 3
        await bot.run("and now?", message_history=first.all_messages())
        assert [text for role, text in said(root) if role == "assistant"] == ["Let me look."] * 4


async def test_structured_output_is_the_answer(root: Path) -> None:
    """It stands in no text of the model's."""

    class Hours(BaseModel):
        hours: int

    async with opened(root) as channel:
        model = Scripted(ToolCallPart("final_result", {"hours": 11}))
        await agent(model, ChannelCapability(channel), output_type=Hours).run(ASKED)
        assert said(root) == [("user", ASKED), ("assistant", '{"hours":11}')]


async def test_a_prompt_of_parts_is_taken_in_by_its_words(root: Path) -> None:
    """A picture has none."""
    async with opened(root) as channel:
        model = Scripted("ok", "ok")
        bot = agent(model, ChannelCapability(channel))
        await bot.run(["look at the kiln", ImageUrl("https://a.example/b.png")])
        await bot.run([ImageUrl("https://a.example/b.png")])
        assert said(root) == [
            ("user", "look at the kiln"),
            ("assistant", "ok"),
            ("assistant", "ok"),
        ]


@pytest.mark.parametrize("failure", ["error", "cancelled"])
async def test_a_run_that_ends_in_between_loses_and_doubles_nothing(
    root: Path, failure: str
) -> None:
    """What the user said is kept, and the snapshot is due again."""
    reached = asyncio.Event()

    async def never() -> str:
        reached.set()
        if failure == "error":
            raise ConnectionError("no model")
        await asyncio.sleep(60)
        return ""

    async with opened(root) as channel:
        await remembered(channel)
        model = Scripted(never, "Done.")
        bot = agent(model, ChannelCapability(channel))
        task = asyncio.create_task(bot.run("fire the kiln"))
        await reached.wait()
        if failure == "cancelled":
            task.cancel()
        with pytest.raises((ConnectionError, asyncio.CancelledError)):
            await task
        assert said(root) == [("user", "fire the kiln")]
        await bot.run("and now?")
        assert KILN in model.seen[-1][0]
        assert said(root)[1:] == [("user", "and now?"), ("assistant", "Done.")]


async def test_a_run_that_fails_before_its_first_request_is_taken_in(root: Path) -> None:
    """A bot without its rules does not speak; what the user said is kept."""
    async with opened(root) as channel:
        (root / "SOUL.md").write_bytes(b"\xff\x00")
        with pytest.raises(UnreadableNote, match=r"SOUL\.md"):
            await agent(Scripted(), ChannelCapability(channel, "Dana")).run("hello")
        assert said(root) == [("user", "hello")]


async def test_a_full_disk_costs_the_answer_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`problem` says why, and the next run brings what was not stored."""

    async def full(*_: object) -> None:
        raise StoreError("the disk is full")

    async with opened(root) as channel:
        memory, model = ChannelCapability(channel), Scripted("one", "two")
        bot = agent(model, memory)
        with monkeypatch.context() as patched:
            patched.setattr(Channel, "after_turn", full)
            first = await bot.run("first")
        assert memory.problem == "the disk is full"
        await bot.run("second", message_history=first.all_messages())
        assert memory.problem == ""
        assert [text for _, text in said(root)] == ["first", "one", "second", "two"]


async def test_a_tool_changes_memory_and_tells_what_is_wrong(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All five are offered; a mistake of the model, or a full disk, stands in what it returns."""

    async def full(*_: object) -> None:
        raise StoreError("the disk is full")

    async with opened(root) as channel:
        model = Scripted(
            ToolCallPart("memory_save", {"txt": KILN}),
            ToolCallPart("memory_save", {"text": KILN}),
            "ok",
        )
        bot = agent(model, ChannelCapability(channel, language="zh"))
        await bot.run("remember the kiln")
        assert model.seen[0][2] == [
            "memory_search",
            "memory_save",
            "memory_update",
            "memory_forget",
            "memory_feedback",
        ]
        assert "is missing" in model.parts()
        assert KILN in read(root)
        model.answers = [ToolCallPart("memory_save", {"text": KILN}), "Sorry."]
        monkeypatch.setattr(Channel, "call_tool", full)
        assert (await bot.run("again")).output == "Sorry."
        assert "the disk is full" in model.parts()


# ── the gate ──────────────────────────────────────────────────────────────────────────────────────


async def test_the_gate_lets_older_messages_go(root: Path) -> None:
    """Before the first request, at a prompt; the request has the new snapshot."""
    async with opened(root) as channel:
        memory = ChannelCapability(channel, most_messages=4, keep_messages=1)
        model = Scripted("noted", "ok", "ok", "ok")
        bot = agent(model, memory)
        result = await bot.run("@pipi remember: the kiln takes eleven hours")
        for text in ("one", "two"):
            result = await bot.run(text, message_history=result.all_messages())
        assert memory.receipt is None
        result = await bot.run("three", message_history=result.all_messages())
        assert memory.receipt is not None
        assert memory.receipt.state == "consolidated"
        prompts = [
            part.content
            for one in result.all_messages()
            for part in one.parts
            if isinstance(part, UserPromptPart)
        ]
        assert prompts == ["two", "three"]
        assert len(result.new_messages()) == 2
        assert "eleven hours" not in model.parts()
        assert "eleven hours" in model.seen[-1][0]
        assert [text for _, text in said(root)][-2:] == ["three", "ok"]
        assert len(said(root)) == 8


async def test_a_compaction_that_cannot_be_noted_costs_no_answer(root: Path) -> None:
    """The messages go, and the snapshot is due."""
    async with opened(root) as channel:
        memory = ChannelCapability(channel, most_messages=2, keep_messages=0)
        bot = agent(Scripted("noted", "ok", "ok"), memory)
        result = await bot.run("@pipi remember: the kiln takes eleven hours")
        result = await bot.run("one", message_history=result.all_messages())
        with mock.patch.object(channel_module, "begin_epoch", side_effect=StoreError("full")):
            result = await bot.run("two", message_history=result.all_messages())
        assert memory.receipt is not None
        assert memory.receipt.may_compact
        assert result.output == "ok"
        assert memory.turn is not None
        assert memory.turn.first


async def test_a_gate_that_refuses_keeps_every_message(root: Path) -> None:
    """It is asked again with the next run."""
    assistant = ScriptedAssistant([ModelUnavailable("down")] * 20)
    async with opened(root, assistant, policy="block") as channel:
        memory = ChannelCapability(channel, most_messages=2, keep_messages=0, deadline=5)
        model = Scripted("a", "b", "c")
        bot = agent(model, memory)
        result = await bot.run("first")
        result = await bot.run("second", message_history=result.all_messages())
        assert memory.receipt is None
        result = await bot.run("third", message_history=result.all_messages())
        assert memory.receipt is not None
        assert memory.receipt.state == "blocked"
        assert len(result.all_messages()) == 6
        assert [text for _, text in said(root)] == ["first", "a", "second", "b", "third", "c"]


async def test_bounds_that_cannot_hold_are_refused(root: Path) -> None:
    """More kept than there may be."""
    async with opened(root) as channel:
        with pytest.raises(ArgumentError, match="keep_messages"):
            ChannelCapability(channel, most_messages=5, keep_messages=6)


async def test_a_channel_that_keeps_context_is_refused(root: Path) -> None:
    """What memory adds would be shown once, and never again."""
    async with Pipimem(root, "offline", settings=settings(), keeps_context=True) as pipimem:
        with pytest.raises(ArgumentError, match="keeps_context must be off"):
            ChannelCapability(await pipimem.channel("room"))


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sentence with the extra's name."""
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "pipimem.adapters.pydantic_ai")
    with pytest.raises(ImportError, match=r"pip install 'pipimem\[pydantic-ai\]'"):
        importlib.import_module("pipimem.adapters.pydantic_ai")
