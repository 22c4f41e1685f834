"""AgentScope's own agent, with a scripted model, on a channel of a real workspace."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import pytest
from agentscope.agent import Agent, ContextConfig
from agentscope.event import ConfirmResult, RequireUserConfirmEvent, UserConfirmResultEvent
from agentscope.message import TextBlock, UserMsg
from agentscope.permission import PermissionContext, PermissionMode
from agentscope.state import AgentState
from agentscope.tool import FunctionTool, ToolChunk, Toolkit
from pipimem import ArgumentError, Channel, Pipimem, StoreError, Visible
from pipimem.adapters.agentscope import AgentScopeMiddleware
from pipimem.errors import ModelUnavailable
from pipimem.runtime import channel as channel_module
from pipimem.testing import ScriptedAssistant

from tests.interfaces.adapters.agentscope_model import ScriptedModel, texts, tool_call
from tests.interfaces.adapters.room import FACT, RULE, logged, memory, taught
from tests.runtime.building import settings

pytestmark = pytest.mark.anyio
QUESTION = "Which Postgres version runs on the staging database?"
# Everything is too long for it.
TINY = ContextConfig(trigger_ratio=0.0001, reserve_ratio=0.00005)


async def _noon() -> ToolChunk:
    return ToolChunk(content=[TextBlock(text="noon")])


CLOCK = Toolkit(tools=[FunctionTool(_noon, name="clock", description="The time.")])


def _unasked() -> AgentState:
    """Tools need nobody's permission."""
    return AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))


def agent_of(channel: Channel, model: ScriptedModel, **more: object) -> Agent:
    return Agent(
        "pipi", "You are pipi.", model, middlewares=[AgentScopeMiddleware(channel)], **more
    )


def middleware_of(agent: Agent) -> AgentScopeMiddleware:
    (middleware,) = agent._reply_middlewares
    return middleware


def before_turns() -> Any:
    """Carried out, and kept."""
    before = Channel.before_turn
    return mock.patch.object(Channel, "before_turn", autospec=True, side_effect=before)


def dana(text: str) -> UserMsg:
    return UserMsg("Dana", text)


# ── what the model is given ───────────────────────────────────────────────────────────────────────


async def test_the_first_turn_has_the_snapshot_and_who_the_bot_is(
    channel: Channel, root: Path
) -> None:
    """All behind the prompt of the agent itself, in its system message."""
    await taught(channel)
    (root / "SOUL.md").write_text("You are a careful release engineer.\n")
    model = ScriptedModel("hello")
    await agent_of(channel, model).reply(dana("good morning"))
    system = model.calls[0][0]
    text = system.get_text_content()
    assert system.role == "system"
    assert text.startswith("You are pipi.\n\nYou are a careful release engineer.")
    assert RULE in text
    assert FACT in text


async def test_who_the_bot_is_may_be_left_to_the_host(channel: Channel, root: Path) -> None:
    """Hosts that read SOUL.md themselves do not want it twice."""
    (root / "SOUL.md").write_text("You are a careful release engineer.\n")
    model = ScriptedModel("hello")
    middleware = AgentScopeMiddleware(channel, session_prompt=False)
    await Agent("pipi", "You are pipi.", model, middlewares=[middleware]).reply(dana("morning"))
    assert model.calls[0][0].get_text_content() == "You are pipi."


async def test_later_turns_have_what_stands_and_what_the_message_asks_for(
    channel: Channel,
) -> None:
    """The rule is in the system message, the fact in front of the question."""
    await taught(channel)
    model = ScriptedModel("hello")
    agent = agent_of(channel, model)
    await agent.reply(dana("good morning"))
    await agent.reply(dana(QUESTION))
    system, asked = model.calls[1][0].get_text_content(), model.calls[1][-1].get_text_content()
    assert RULE in system
    assert FACT not in system
    assert FACT in asked
    assert asked.endswith(QUESTION)


async def test_recalled_text_does_not_enter_the_context(channel: Channel, root: Path) -> None:
    """The agent keeps what was said, and memory does not read itself."""
    await taught(channel)
    agent = agent_of(channel, ScriptedModel("It is 16."))
    await agent.reply(dana("good morning"))
    await agent.reply(dana(QUESTION))
    said = ["good morning", "It is 16.", QUESTION, "It is 16."]
    assert texts(agent.state.context) == said
    assert [text for _, _, text in logged(root)] == said


async def test_a_turn_is_made_once_for_all_calls_of_the_model(channel: Channel) -> None:
    """Each call of a reply with tools is sent the same recall."""
    await taught(channel)
    model = ScriptedModel("hello", tool_call("clock", "{}"), "It is noon, and 16.")
    agent = agent_of(channel, model, toolkit=CLOCK, state=_unasked())
    await agent.reply(dana("good morning"))
    with before_turns() as made:
        await agent.reply(dana(QUESTION))
    assert made.call_count == 1
    assert FACT in model.sent(1)
    assert FACT in model.sent(2)


async def test_memory_is_told_how_much_of_the_talk_the_model_sees(channel: Channel) -> None:
    """Excerpts of the transcript are older than the agent's context; of none, all is older."""
    agent = agent_of(channel, ScriptedModel("Noted."))
    told = []
    for one in (agent, agent, agent, agent_of(channel, ScriptedModel("Hm."))):
        with before_turns() as made:
            await one.reply(dana("Who was the courier?"))
        told.append(made.call_args.kwargs["visible"])
    oldest = agent.state.context[0].id
    assert told == [Visible.NOTHING, oldest, oldest, Visible.NOTHING]


async def test_memory_is_told_who_asks_and_what_was_heard_before(channel: Channel) -> None:
    """What the agent observed is stored before the turn, so that no excerpt repeats it."""
    agent = agent_of(channel, ScriptedModel("ok"))
    await agent.observe(UserMsg("Priya", "The build is green."))
    with before_turns() as made:
        await agent.reply(dana("pipi, what is new?"))
    heard = agent.state.context[0].id
    assert made.call_args.kwargs == {"speaker": "Dana", "visible": heard}


async def test_a_new_session_reads_anew_who_the_bot_is(channel: Channel, root: Path) -> None:
    """SOUL.md stays as it was while a session lasts, so that the prompt's bytes repeat."""
    (root / "SOUL.md").write_text("You are quiet.\n")
    agent = agent_of(channel, ScriptedModel("ok"))
    await agent.reply(dana("one"))
    (root / "SOUL.md").write_text("You are loud.\n")
    await agent.reply(dana("two"))
    assert "You are quiet." in agent.model.sent()
    await channel.reset()
    await agent.reply(dana("three"))
    assert "You are loud." in agent.model.sent()


# ── what is taken in ──────────────────────────────────────────────────────────────────────────────


async def test_the_talk_is_taken_in_once_with_speakers_and_tools(
    channel: Channel, root: Path
) -> None:
    """A message has the id of AgentScope's, a nameless person no name, and a tool its own."""
    model = ScriptedModel(tool_call("clock", "{}"), "It is noon.", "Good.")
    agent = agent_of(channel, model, toolkit=CLOCK, state=_unasked())
    await agent.reply(dana("What time is it?"))
    await agent.reply(UserMsg("user", "thanks"))
    assert logged(root) == [
        ("user", "Dana", "What time is it?"),
        ("tool", "clock", "noon"),
        ("assistant", "", "It is noon."),
        ("user", "", "thanks"),
        ("assistant", "", "Good."),
    ]


async def test_what_was_only_observed_is_taken_in_with_the_next_reply(
    channel: Channel, root: Path
) -> None:
    """Others in a group speak while the bot is silent."""
    agent = agent_of(channel, ScriptedModel("ok"))
    await agent.observe(UserMsg("Priya", "The build is green."))
    await agent.observe(UserMsg("Priya", "I am off for lunch."))
    await agent.reply(dana("pipi, what is new?"))
    assert [text for _, _, text in logged(root)] == [
        "The build is green.", "I am off for lunch.", "pipi, what is new?", "ok",
    ]  # fmt: skip


async def test_a_reply_that_is_cancelled_loses_nothing_and_doubles_nothing(
    channel: Channel, root: Path
) -> None:
    """Cancelled in the model's call; the question is stored, and the next reply goes on."""
    model = ScriptedModel("fine")
    began = asyncio.Event()

    async def hang(*_: object, **__: object) -> None:
        began.set()
        await asyncio.sleep(60)

    agent = agent_of(channel, model)
    with mock.patch.object(model, "_call_api", hang):
        task = asyncio.create_task(agent.reply(dana("Are you there?")))
        await began.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert [text for _, _, text in logged(root)] == ["Are you there?"]
    await agent.reply(dana("And now?"))
    assert [text for _, _, text in logged(root)] == ["Are you there?", "And now?", "fine"]


async def test_a_scope_that_is_cancelled_loses_nothing(channel: Channel, root: Path) -> None:
    """Unlike a task a scope of anyio cancels every step that follows, too."""
    model = ScriptedModel("fine")

    async def hang(*_: object, **__: object) -> None:
        scope.cancel()
        await anyio.sleep(60)

    with mock.patch.object(model, "_call_api", hang), anyio.CancelScope() as scope:
        await agent_of(channel, model).reply(dana("Are you there?"))
    assert [text for _, _, text in logged(root)] == ["Are you there?"]


async def test_what_is_stored_is_not_handed_in_again(channel: Channel) -> None:
    """A long context would be masked anew with each reply."""
    agent = agent_of(channel, ScriptedModel("ok"))
    after = Channel.after_turn
    for number in range(3):
        with mock.patch.object(Channel, "after_turn", autospec=True, side_effect=after) as made:
            await agent.reply(dana(f"number {number}"))
        (call,) = made.call_args_list
        assert [message.content for message in call.args[2]] == [f"number {number}", "ok"]


async def test_a_stream_that_nobody_reads_to_its_end_is_taken_in(
    channel: Channel, root: Path
) -> None:
    """The host breaks off; what stood in the context by then is stored with the next reply."""
    agent = agent_of(channel, ScriptedModel("first", "second"))
    async for _ in agent.reply_stream(dana("one")):
        break
    await agent.reply(dana("two"))
    assert [text for _, _, text in logged(root)] == ["one", "two", "first"]


async def test_a_model_that_fails_loses_no_question(channel: Channel, root: Path) -> None:
    """The error is the host's; the message was said all the same."""
    model = ScriptedModel(RuntimeError("no connection"), "back again")
    agent = agent_of(channel, model)
    with pytest.raises(RuntimeError, match="no connection"):
        await agent.reply(dana("Can you hear me?"))
    await agent.reply(dana("And now?"))
    assert [text for _, _, text in logged(root)] == [
        "Can you hear me?", "And now?", "back again",
    ]  # fmt: skip


async def test_hooks_out_of_order_and_twice_double_nothing(channel: Channel, root: Path) -> None:
    """No hook needs another one before it."""
    await taught(channel)
    agent = agent_of(channel, ScriptedModel("It is 16."))
    middleware = middleware_of(agent)
    sent: list[dict[str, list[UserMsg]]] = []

    async def model(**given: object) -> None:
        sent.append(given)

    async def nothing(**_: object):
        for item in ():
            yield item

    question = dana(QUESTION)
    await middleware.on_model_call(agent, {"messages": []}, model)
    assert [_ async for _ in middleware.on_reply(agent, {}, nothing)] == []
    await agent.observe(question)
    await agent.observe(question)
    await middleware.on_model_call(agent, {"messages": [question]}, model)
    for _ in range(2):
        assert [_ async for _ in middleware.on_reply(agent, {}, nothing)] == []
    assert RULE in await middleware.on_system_prompt(agent, "You are pipi.")
    assert sent[0]["messages"] == []
    assert [text for _, _, text in logged(root)] == [QUESTION]


async def test_an_agent_restored_in_another_process_doubles_nothing(
    channel: Channel, root: Path
) -> None:
    """Its state holds what the transcript knows already."""
    agent = agent_of(channel, ScriptedModel("noted"))
    await agent.reply(dana("The password policy changes in May."))
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    await agent_of(channel, ScriptedModel("in May"), state=state).reply(dana("When?"))
    assert [text for _, _, text in logged(root)] == [
        "The password policy changes in May.", "noted", "When?", "in May",
    ]  # fmt: skip


async def test_a_reply_that_waits_for_a_person_goes_on_in_the_same_turn(
    channel: Channel, root: Path
) -> None:
    """The confirmation comes without a message; recall stays, and nothing is doubled."""
    await taught(channel)
    model = ScriptedModel("hello", tool_call("clock", "{}"), "noon, and 16")
    agent = agent_of(channel, model, toolkit=CLOCK)
    await agent.reply(dana("good morning"))
    asked = [
        one
        async for one in agent.reply_stream(dana(QUESTION))
        if isinstance(one, RequireUserConfirmEvent)
    ]
    confirmed = [ConfirmResult(confirmed=True, tool_call=one) for one in asked[0].tool_calls]
    await agent.reply(UserConfirmResultEvent(reply_id=asked[0].reply_id, confirm_results=confirmed))
    assert FACT in model.sent()
    assert [text for _, _, text in logged(root)][2:] == [QUESTION, "noon", "noon, and 16"]
    assert [one.recalls for one in await channel.notes.entries() if one.text == FACT] == [1]


async def test_a_full_disk_costs_no_answer_and_no_message(channel: Channel, root: Path) -> None:
    """What could not be stored is handed in again with the next reply."""
    agent = agent_of(channel, ScriptedModel("ok"))
    full = StoreError("no space left on device")
    with mock.patch.object(Channel, "after_turn", side_effect=full):
        assert (await agent.reply(dana("one"))).get_text_content() == "ok"
    assert middleware_of(agent).problem == "no space left on device"
    assert logged(root) == []
    await agent.reply(dana("two"))
    assert middleware_of(agent).problem == ""
    assert [text for _, _, text in logged(root)] == ["one", "ok", "two", "ok"]


# ── the gate ──────────────────────────────────────────────────────────────────────────────────────


async def test_the_gate_stores_and_learns_before_the_context_is_compacted(
    channel: Channel, root: Path
) -> None:
    """The rule was said in this context alone; it stands in MEMORY.md, and in the next snapshot."""
    agent = agent_of(channel, ScriptedModel("Noted."))
    await agent.reply(dana("Remember: never use port 8443 for the staging proxy."))
    await agent.compress_context(TINY)
    middleware = middleware_of(agent)
    assert "summary of current_state" in agent.state.summary
    assert middleware.receipt is not None
    assert middleware.receipt.state == "consolidated"
    assert "8443" in memory(root)
    await agent.reply(dana("good morning"))
    assert middleware.turn is not None
    assert middleware.turn.first
    assert "8443" in agent.model.calls[-1][0].get_text_content()


async def test_a_compaction_that_cannot_be_noted_costs_no_answer(channel: Channel) -> None:
    """It took place, and the snapshot is due."""
    agent = agent_of(channel, ScriptedModel("Noted."))
    await agent.reply(dana("Remember: never use port 8443 for the staging proxy."))
    with mock.patch.object(channel_module, "begin_epoch", side_effect=StoreError("disk full")):
        await agent.compress_context(TINY)
    assert "summary of current_state" in agent.state.summary
    await agent.reply(dana("good morning"))
    turn = middleware_of(agent).turn
    assert turn is not None
    assert turn.first


async def test_the_gate_refuses_a_compaction_when_the_model_cannot_learn(root: Path) -> None:
    """With the policy `block` the context stays whole, and the talk is on disk."""
    broken = ScriptedAssistant([ModelUnavailable("no key")] * 9)
    async with Pipimem(root, assistant=broken, settings=settings("block")) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        agent = agent_of(channel, ScriptedModel("Noted."), context_config=TINY)
        await agent.reply(dana("The freeze begins on Monday."))
        before = texts(agent.state.context)
        await agent.compress_context()
        middleware = middleware_of(agent)
        assert middleware.receipt is not None
        assert middleware.receipt.state == "blocked"
        assert agent.state.summary == ""
        assert texts(agent.state.context) == before == ["The freeze begins on Monday.", "Noted."]
        assert [text for _, _, text in logged(root)] == before


async def test_no_gate_is_asked_while_nothing_is_to_be_compacted(channel: Channel) -> None:
    """AgentScope calls the hook before every call of the model."""
    agent = agent_of(channel, ScriptedModel("ok"))
    with mock.patch.object(Channel, "before_compaction", side_effect=AssertionError):
        await agent.reply(dana("hello"))
    assert middleware_of(agent).receipt is None


async def test_a_compaction_that_fails_begins_no_new_session(channel: Channel) -> None:
    """The context is as it was, so nothing was dropped."""
    agent = agent_of(channel, ScriptedModel("Noted."))
    await agent.reply(dana("hello"))
    failing = mock.patch.object(
        agent.model, "generate_structured_output", side_effect=RuntimeError("no")
    )
    with failing, pytest.raises(RuntimeError, match="no"):
        await agent.compress_context(TINY)
    await agent.reply(dana("again"))
    assert middleware_of(agent).turn.first is False


async def test_a_compaction_in_the_middle_of_a_reply_doubles_nothing(
    channel: Channel, root: Path
) -> None:
    """The gate stores the question, the end of the reply the rest; recall is still sent."""
    await taught(channel)
    model = ScriptedModel("hello", "It is 16.")
    agent = agent_of(channel, model)
    await agent.reply(dana("good morning"))
    agent.context_config = TINY
    await agent.reply(dana(QUESTION))
    assert "summary of" in agent.state.summary
    assert FACT in model.sent()
    said = [text for _, _, text in logged(root)]
    assert said == ["good morning", "hello", QUESTION, "It is 16."]


# ── tools and confinement ─────────────────────────────────────────────────────────────────────────


async def test_the_tools_of_the_channel_are_offered_and_carried_out(
    channel: Channel, root: Path
) -> None:
    """Without asking a person; what memory answers is not taken in as something said."""
    await taught(channel)
    middleware = AgentScopeMiddleware(channel)
    model = ScriptedModel(
        tool_call("memory_save", '{"text": "Joost brings the parcels.", "kind": "fact"}'),
        tool_call("memory_search", '{"query": "Postgres staging"}', "call-2"),
        "Saved.",
    )
    toolkit = Toolkit(tools=await middleware.list_tools())
    agent = Agent("pipi", "You are pipi.", model, middlewares=[middleware], toolkit=toolkit)
    await agent.reply(dana("Keep that, and look it up."))
    assert model.tools == [tool["function"]["name"] for tool in channel.tools()]
    assert "Joost brings the parcels." in memory(root)
    results = agent.state.context[-1].get_content_blocks("tool_result")
    assert FACT in results[1].output[0].text
    assert [role for role, _, _ in logged(root)] == ["user", "assistant"]


async def test_a_wrong_argument_is_told_to_the_model(channel: Channel) -> None:
    """AgentScope checks the schema; what it lets through the channel refuses itself."""
    tools = {tool.name: tool for tool in await AgentScopeMiddleware(channel).list_tools()}
    chunk = await tools["memory_save"](texxt="a typo")
    assert isinstance(chunk, ToolChunk)
    assert chunk.state == "error"
    assert "there is no argument 'texxt'" in chunk.content[0].text


async def test_an_agent_sees_no_other_channel(root: Path) -> None:
    """Two agents, two channels, one workspace."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        await taught(await pipimem.channel("other"))
        model = ScriptedModel("I do not know.")
        agent = agent_of(await pipimem.channel("room"), model)
        await agent.reply(dana("good morning"))
        await agent.reply(dana(QUESTION))
    assert FACT not in model.sent(0) + model.sent(1)
    assert RULE not in model.sent(0) + model.sent(1)


async def test_a_channel_that_keeps_context_is_refused(root: Path) -> None:
    """There entries are shown once only, and the agent would forget them with the next turn."""
    async with Pipimem(root, "offline", settings=settings(), keeps_context=True) as pipimem:
        channel = await pipimem.channel("room")
        with pytest.raises(ArgumentError, match="keeps_context must be off"):
            AgentScopeMiddleware(channel)
