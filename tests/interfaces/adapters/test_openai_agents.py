"""The session of the OpenAI Agents SDK, driven by the SDK's own runner and a scripted model."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SessionSettings,
    Usage,
    function_tool,
)
from agents.memory import is_openai_responses_compaction_aware_session
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pipimem import ArgumentError, Channel, Kind, Pipimem, PipimemError, StoreError
from pipimem.adapters.openai_agents import ChannelSession
from pipimem.errors import ModelUnavailable
from pipimem.runtime import channel as channel_module
from pipimem.testing import ScriptedAssistant

from tests.runtime.building import opened, read, settings

pytestmark = pytest.mark.anyio

FRIDAY = "we never deploy on Fridays"
KILN = "the kiln takes eleven hours"
ASKED = "How long does the kiln take?"


@dataclass
class ScriptedModel(Model):
    """Answers with texts and calls of tools, and keeps what it was shown."""

    answers: list[Any]
    response_id: str | None = None
    seen: list[tuple[str, list[Any]]] = field(default_factory=list)

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        system, items = [*given, *named.values()][:2]
        self.seen.append((system or "", items))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        if callable(answer):
            answer = await answer()
        item = answer if not isinstance(answer, str) else _message(answer)
        return ModelResponse(output=[item], usage=Usage(), response_id=self.response_id)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        response = await self.get_response(*given, **named)
        whole = Response(
            id="r1", created_at=0, model="scripted", object="response", output=response.output,
            tool_choice="none", tools=[], parallel_tool_calls=False,
        )  # fmt: skip
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)

    def texts(self, call: int = -1) -> str:
        """All that the model was shown in a call."""
        system, items = self.seen[call]
        return system + json.dumps(items, ensure_ascii=False)


def _message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="m", content=[part], role="assistant", status="completed", type="message"
    )


def call(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        name=name, arguments=json.dumps(arguments), call_id=uuid4().hex, type="function_call"
    )


async def run(session: ChannelSession, model: ScriptedModel, text: str, *, tools: Any = ()) -> str:
    config = RunConfig(call_model_input_filter=session.add_memory, tracing_disabled=True)
    agent = Agent(
        name="pipi", instructions="You are pipi.", model=model, tools=[*session.tools(), *tools]
    )
    result = await Runner.run(agent, text, session=session, run_config=config)
    return str(result.final_output)


def said(root: Path) -> list[tuple[str, str]]:
    lines = read(root, "log.jsonl").splitlines()
    return [(line["role"], line["content"]) for line in map(json.loads, lines) if "role" in line]


async def remembered(channel: Channel) -> None:
    await channel.notes.remember(FRIDAY, kind=Kind.CONSTRAINT)
    await channel.notes.remember(KILN)


# ── what the model is shown ───────────────────────────────────────────────────────────────────────


async def test_the_first_turn_has_the_snapshot_and_what_is_recalled(root: Path) -> None:
    """Both reach the model with the bot's own rules, and neither becomes an item."""
    async with opened(root) as channel:
        await remembered(channel)
        session, model = ChannelSession(channel), ScriptedModel(["Eleven hours.", "On Monday."])
        assert await run(session, model, ASKED) == "Eleven hours."
        assert model.seen[0][0].startswith("You are pipi.\n\n# Soul")
        assert FRIDAY in model.seen[0][0]
        assert KILN in model.texts()
        await run(session, model, "When do we deploy?")
        items = json.dumps(await session.get_items())
        assert FRIDAY in model.seen[1][0]
        assert KILN not in model.seen[1][0]
        assert FRIDAY not in items
        assert KILN not in items


async def test_what_is_recalled_stands_before_the_message(root: Path) -> None:
    """Also before a message of parts; the session's own item stays as it was."""
    async with opened(root) as channel:
        await remembered(channel)
        session, model = ChannelSession(channel), ScriptedModel(["hi", "Eleven.", "Eleven."])
        await run(session, model, "hello")
        await run(session, model, ASKED)
        content = model.seen[-1][1][-1]["content"]
        assert content.endswith(f"\n\n{ASKED}")
        assert KILN in content
        parts = [{"role": "user", "content": [{"type": "input_text", "text": ASKED}]}]
        await run(session, model, parts)  # type: ignore[arg-type]
        first, second = model.seen[-1][1][-1]["content"]
        assert KILN in first["text"]
        assert second["text"] == ASKED
        assert (await session.get_items())[-2] == parts[0]


async def test_the_newest_messages_are_not_recalled_as_excerpts(root: Path) -> None:
    """What the model sees is not shown again; what a limit hides from it is."""
    async with opened(root) as channel:
        session = ChannelSession(channel, session_settings=SessionSettings(limit=2))
        model = ScriptedModel(["noted", "fine", "In the blue cupboard."])
        await run(session, model, "the spare key hangs in the blue cupboard of the workshop")
        seen = "where does the spare key of the workshop hang?"
        await run(session, model, seen)
        assert model.texts().count("blue cupboard") == 1
        session.session_settings = SessionSettings(limit=0)
        await run(session, model, seen)
        assert "blue cupboard" in model.texts()


async def test_every_call_of_a_turn_shows_the_same(root: Path) -> None:
    """Between a call of a tool and the answer the prompt stays, for the provider's cache."""

    @function_tool
    def oven() -> str:
        return "820 degrees"

    async with opened(root) as channel:
        await remembered(channel)
        session, model = ChannelSession(channel), ScriptedModel([call("oven"), "820 now."])
        await run(session, model, ASKED, tools=[oven])
        assert model.seen[0][0] == model.seen[1][0]
        assert model.seen[0][1][0] == model.seen[1][1][0]
        assert said(root) == [("user", ASKED), ("tool", "820 degrees"), ("assistant", "820 now.")]


async def test_the_agent_that_a_talk_is_handed_to_sees_the_same(root: Path) -> None:
    """Also where the SDK packs what was said before into one message."""
    for nested in (False, True):
        async with opened(root) as channel:
            await remembered(channel)
            await channel.reset()
            session, model = (
                ChannelSession(channel),
                ScriptedModel([call("transfer_to_expert"), "Eleven."]),
            )
            expert = Agent(name="expert", instructions="You are the expert.", model=model)
            agent = Agent(name="pipi", model=model, handoffs=[expert])
            config = RunConfig(
                call_model_input_filter=session.add_memory,
                tracing_disabled=True,
                nest_handoff_history=nested,
            )
            result = await Runner.run(agent, ASKED, session=session, run_config=config)
            assert result.final_output == "Eleven."
            assert model.seen[1][0].startswith("You are the expert.")
            assert FRIDAY in model.seen[1][0]
            assert KILN in model.texts(1)
            assert not (await channel.before_turn(ASKED)).first


async def test_a_channel_shows_nothing_of_another(root: Path) -> None:
    """Two sessions of one workspace."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        one, other = await pipimem.channel("one"), await pipimem.channel("other")
        await remembered(one)
        session, model = (
            ChannelSession(other),
            ScriptedModel([call("memory_search", query="kiln"), "?"]),
        )
        await run(session, model, ASKED)
        assert KILN not in model.texts(0)
        assert KILN not in model.texts(1)


# ── what is taken in ──────────────────────────────────────────────────────────────────────────────


async def test_a_turn_is_taken_in_once(root: Path) -> None:
    """With the speaker, streamed or not: the SDK stores the input before the model, or after."""
    async with opened(root) as channel:
        session, model = ChannelSession(channel, speaker="Dana"), ScriptedModel(["one", "two"])
        await run(session, model, "first")
        config = RunConfig(call_model_input_filter=session.add_memory, tracing_disabled=True)
        streamed = Runner.run_streamed(
            Agent(name="pipi", model=model), "second", session=session, run_config=config
        )
        async for _ in streamed.stream_events():
            pass
        assert said(root) == [
            ("user", "first"),
            ("assistant", "one"),
            ("user", "second"),
            ("assistant", "two"),
        ]
        assert json.loads(read(root, "log.jsonl").splitlines()[0])["name"] == "Dana"


async def test_recalled_text_is_not_learnt_back(root: Path) -> None:
    """Neither what a tool of memory answered, nor a block that the model repeats."""
    async with opened(root) as channel:
        await remembered(channel)
        session = ChannelSession(channel)
        model = ScriptedModel([call("memory_search", query="kiln"), "It takes a while."])
        await run(session, model, "And the kiln?")
        assert KILN in model.seen[1][1][-1]["output"]
        turn = await channel.before_turn(ASKED)
        model.answers += [f"{turn.recalled}\nEleven."]
        await run(session, model, ASKED)
        assert said(root) == [
            ("user", "And the kiln?"), ("assistant", "It takes a while."), ("user", ASKED), ("assistant", "Eleven."),
        ]  # fmt: skip


async def test_a_run_cancelled_in_between_loses_and_doubles_nothing(root: Path) -> None:
    """What the user said is kept; said again it is a message of its own."""
    async with opened(root) as channel:
        reached = asyncio.Event()

        async def never() -> str:
            reached.set()
            await asyncio.sleep(60)
            return ""

        session, model = ChannelSession(channel), ScriptedModel([never, "Done."])
        task = asyncio.create_task(run(session, model, "fire the kiln"))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said(root) == [("user", "fire the kiln")]
        await run(session, model, "and now?")
        assert said(root)[1:] == [("user", "and now?"), ("assistant", "Done.")]


async def test_storing_cancelled_half_way_is_done_with_the_next_items(root: Path) -> None:
    """Wherever the cancellation comes, each message stands in the log once."""
    async with opened(root) as channel:
        session = ChannelSession(channel)
        for number in range(20):
            task = asyncio.create_task(
                session.add_items([{"role": "user", "content": f"m{number}"}])
            )
            for _ in range(number):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await session.add_items([{"role": "user", "content": "last"}])
        kept = [item["content"] for item in await session.get_items()]  # type: ignore[typeddict-item]
        assert [text for _, text in said(root)] == kept
        assert len(kept) > 10


async def test_what_is_popped_and_added_again_stands_in_the_log_once(root: Path) -> None:
    """The SDK takes a turn's input back and adds it again where a provider refused it."""
    async with opened(root) as channel:
        session = ChannelSession(channel)
        item: Any = {"role": "user", "content": "fire the kiln"}
        await session.add_items([item])
        assert await session.pop_item() == item
        assert await session.get_items() == []
        await session.add_items([item])
        await session.add_items([item])  # said a second time
        assert said(root) == [("user", "fire the kiln")] * 2
        await session.pop_item()
        await session.pop_item()
        assert await session.pop_item() is None


async def test_a_full_disk_costs_the_answer_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`problem` says why, and the next items bring what was not stored."""
    async with opened(root) as channel:
        session, model = ChannelSession(channel), ScriptedModel(["one", "two"])
        with monkeypatch.context() as patched:

            async def full(*_: object) -> None:
                raise StoreError("the disk is full")

            patched.setattr(Channel, "after_turn", full)
            assert await run(session, model, "first") == "one"
            assert session.problem == "the disk is full"
        await run(session, model, "second")
        assert session.problem == ""
        assert [text for _, text in said(root)] == ["first", "one", "second", "two"]


async def test_a_tool_tells_the_model_that_the_disk_refuses(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on."""

    async def full(*_: object) -> None:
        raise StoreError("the disk is full")

    async with opened(root) as channel:
        session, model = (
            ChannelSession(channel),
            ScriptedModel([call("memory_save", text=KILN), "Sorry."]),
        )
        monkeypatch.setattr(Channel, "call_tool", full)
        assert await run(session, model, "remember that") == "Sorry."
        assert "the disk is full" in model.seen[1][1][-1]["output"]


async def test_a_tool_changes_memory_and_tells_what_is_wrong(root: Path) -> None:
    """All five are offered; a mistake of the model stands in the output."""
    async with opened(root) as channel:
        session = ChannelSession(channel)
        assert {tool.name for tool in session.tools(language="zh")} == {
            "memory_search", "memory_save", "memory_update", "memory_forget", "memory_feedback",
        }  # fmt: skip
        model = ScriptedModel(
            [call("memory_save", txt=KILN), call("memory_save", text=KILN), "Saved."]
        )
        await run(session, model, "remember the kiln")
        assert "'text' is missing" in model.seen[1][1][-1]["output"]
        assert KILN in read(root)


async def test_what_is_no_item_is_refused(root: Path) -> None:
    """A text handed in as the list would be stored letter by letter."""
    async with opened(root) as channel:
        session = ChannelSession(channel)
        for wrong in ("hello", [None], ["hello"]):
            with pytest.raises(ArgumentError, match="dicts"):
                await session.add_items(wrong)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="keep_items"):
            ChannelSession(channel, most_items=5, keep_items=6)
        assert said(root) == []


async def test_what_has_no_words_is_kept_and_not_taken_in(root: Path) -> None:
    """A picture, the SDK's own thoughts and instructions of the host."""
    items: list[Any] = [
        {
            "role": "user",
            "content": [{"type": "input_image", "image_url": "https://a.example/b.png"}],
        },
        {"type": "reasoning", "id": "rs", "summary": []},
        {"role": "developer", "content": "be short"},
        {
            "type": "function_call_output",
            "call_id": "unknown",
            "output": [{"type": "input_text", "text": "820"}],
        },
    ]
    async with opened(root) as channel:
        session = ChannelSession(channel)
        await session.add_items(items)
        assert await session.get_items() == items
        assert said(root) == [("tool", "820")]


# ── the gate ──────────────────────────────────────────────────────────────────────────────────────


async def test_the_gate_lets_older_items_go(root: Path) -> None:
    """At a user's message; what was dropped is consolidated, and the snapshot is due again."""
    async with opened(root) as channel:
        session = ChannelSession(channel, most_items=6, keep_items=3)
        assert is_openai_responses_compaction_aware_session(session)
        model = ScriptedModel(["noted", "ok", "ok", "ok"])
        await run(session, model, "@pipi remember: the kiln takes eleven hours")
        for text in ("one", "two"):
            await run(session, model, text)
        assert session.receipt is None
        await run(session, model, "three")
        assert session.receipt is not None
        assert session.receipt.state == "consolidated"
        assert next(item.get("content") for item in await session.get_items()) == "three"
        assert "eleven hours" in read(root)
        turn = await channel.before_turn("hello")
        assert turn.first
        assert "eleven hours" in turn.standing


async def test_a_compaction_that_cannot_be_noted_costs_no_answer(root: Path) -> None:
    """The items are gone, and the snapshot is due."""
    async with opened(root) as channel:
        session = ChannelSession(channel, most_items=2, keep_items=0)
        model = ScriptedModel(["noted", "ok", "ok"])
        await run(session, model, "@pipi remember: the kiln takes eleven hours")
        with mock.patch.object(channel_module, "begin_epoch", side_effect=StoreError("full")):
            await run(session, model, "one")
        assert session.receipt is not None
        assert session.receipt.may_compact
        assert len(await session.get_items()) == 2
        assert (await channel.before_turn("hello")).first


async def test_a_gate_that_refuses_keeps_every_item(root: Path) -> None:
    """It is asked again when there are more, and once for each turn."""
    assistant = ScriptedAssistant([ModelUnavailable("down")] * 20)
    async with opened(root, assistant, policy="block") as channel:
        session = ChannelSession(channel, most_items=2, keep_items=0, deadline=5)
        model = ScriptedModel(["a", "b"], response_id="r1")  # the SDK asks, too
        await run(session, model, "first")
        assert session.receipt is None
        await run(session, model, "second")
        assert session.receipt is not None
        assert session.receipt.state == "blocked"
        assert len(await session.get_items()) == 4
        assert len(assistant.asked) == 1
        with pytest.raises(PipimemError, match="not cleared"):
            await session.clear_session()
        assert len(await session.get_items()) == 4
        assert [text for _, text in said(root)] == ["first", "a", "second", "b"]


async def test_a_compaction_by_hand_goes_below_the_limit(root: Path) -> None:
    """`force` asks the gate as soon as there is more than is kept."""
    async with opened(root) as channel:
        session, model = ChannelSession(channel, keep_items=2), ScriptedModel(["a", "b"])
        await session.run_compaction({"force": True})
        await run(session, model, "first")
        await run(session, model, "second")
        await session.run_compaction({"force": False})
        assert len(await session.get_items()) == 4
        await session.run_compaction({"force": True})
        assert [item.get("role") for item in await session.get_items()] == ["user", "assistant"]


async def test_a_cleared_session_begins_with_the_snapshot(root: Path) -> None:
    """What was said stays in the log, once; what is said again is another message."""
    async with opened(root) as channel:
        await remembered(channel)
        session, model = ChannelSession(channel), ScriptedModel(["a", "b", "c"])
        await run(session, model, "hello")
        assert KILN in model.seen[-1][0]  # the whole snapshot
        await run(session, model, "hello")
        assert KILN not in model.seen[-1][0]
        await session.clear_session()
        assert await session.get_items() == []
        await run(session, model, "hello")
        assert KILN in model.seen[-1][0]
        assert len(model.seen[-1][1]) == 1
        assert [text for _, text in said(root)] == ["hello", "a", "hello", "b", "hello", "c"]


async def test_after_a_restart_the_session_is_empty_and_memory_is_not(root: Path) -> None:
    """Nothing counts as seen, so that what was said before comes as an excerpt."""
    async with opened(root) as channel:
        model = ScriptedModel(["noted"])
        await run(
            ChannelSession(channel),
            model,
            "the spare key hangs in the blue cupboard of the workshop",
        )
    async with opened(root) as channel:
        session, model = ChannelSession(channel), ScriptedModel(["There."])
        assert await session.get_items() == []
        await run(session, model, "where does the spare key of the workshop hang?")
        assert "blue cupboard" in model.texts()


async def test_a_channel_that_keeps_context_is_refused(root: Path) -> None:
    """What memory adds would be shown once, and never again."""
    async with Pipimem(root, "offline", settings=settings(), keeps_context=True) as pipimem:
        with pytest.raises(ArgumentError, match="keeps_context must be off"):
            ChannelSession(await pipimem.channel("room"))


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the extra's name."""
    monkeypatch.setitem(sys.modules, "agents", None)
    monkeypatch.delitem(sys.modules, "pipimem.adapters.openai_agents")
    with pytest.raises(ImportError, match=r"pip install 'pipimem\[openai-agents\]'"):
        importlib.import_module("pipimem.adapters.openai_agents")
