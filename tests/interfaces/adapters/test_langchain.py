"""An agent of LangChain's `create_agent`, with a scripted model, on a channel of a real workspace."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pipimem import ArgumentError, Channel, Pipimem, StoreError, Visible
from pipimem.adapters.langchain import LangChainMiddleware
from pipimem.errors import ModelUnavailable
from pipimem.runtime import channel as channel_module
from pipimem.testing import ScriptedAssistant

from tests.interfaces.adapters.langchain_model import ScriptedChatModel, texts, tool_call
from tests.interfaces.adapters.room import FACT, RULE, logged, memory, taught
from tests.runtime.building import settings

pytestmark = pytest.mark.anyio
QUESTION = "Which Postgres version runs on the staging database?"
THREAD: Any = {"configurable": {"thread_id": "1"}}


@tool
async def clock() -> str:
    """The time."""
    return "noon"


class Bot:
    """An agent that keeps its messages, as a host with a checkpointer has it."""

    def __init__(self, channel: Channel, *answers: object, **given: Any) -> None:
        self.model = ScriptedChatModel.of(*answers)
        self.memory = LangChainMiddleware(channel)
        given.setdefault("checkpointer", InMemorySaver())
        gates = [self.memory.gated(one) for one in given.pop("compactions", [])]
        self.agent = create_agent(
            self.model, system_prompt="You are pipi.", middleware=[*gates, self.memory], **given
        )

    async def hear(self, text: str, name: str = "Dana", known: str | None = None) -> str:
        return (await self.heard([HumanMessage(text, name=name, id=known)]))[-1]

    async def heard(self, messages: list[Any]) -> list[str]:
        state = await self.agent.ainvoke({"messages": messages}, THREAD)
        return texts(state["messages"])


def before_turns() -> Any:
    """Carried out, and kept."""
    before = Channel.before_turn
    return mock.patch.object(Channel, "before_turn", autospec=True, side_effect=before)


def said(root: Path) -> list[str]:
    return [text for _, _, text in logged(root)]


# ── what the model is sent ────────────────────────────────────────────────────────────────────────


async def test_the_first_turn_has_the_snapshot_and_who_the_bot_is(
    channel: Channel, root: Path
) -> None:
    """All behind the prompt of the agent itself, in its system message."""
    await taught(channel)
    (root / "SOUL.md").write_text("You are a careful release engineer.\n")
    bot = Bot(channel, "hello")
    await bot.hear("good morning")
    system = str(bot.model.calls[0][0].text)
    assert bot.model.calls[0][0].type == "system"
    assert system.startswith("You are pipi.\n\nYou are a careful release engineer.")
    assert RULE in system
    assert FACT in system


async def test_an_agent_without_a_prompt_gets_a_system_message(channel: Channel) -> None:
    """Its first message is that of memory."""
    await taught(channel)
    model = ScriptedChatModel.of("hello")
    agent = create_agent(model, middleware=[LangChainMiddleware(channel, session_prompt=False)])
    await agent.ainvoke({"messages": [HumanMessage("good morning")]})
    assert [message.type for message in model.calls[0]] == ["system", "human"]
    assert RULE in str(model.calls[0][0].text)
    assert "You" not in str(model.calls[0][0].text)


async def test_later_turns_have_what_stands_and_what_the_message_asks_for(
    channel: Channel,
) -> None:
    """The rule is in the system message, the fact in front of the question."""
    await taught(channel)
    bot = Bot(channel, "hello")
    await bot.hear("good morning")
    await bot.hear(QUESTION)
    system, asked = str(bot.model.calls[1][0].text), str(bot.model.calls[1][-1].text)
    assert RULE in system
    assert FACT not in system
    assert FACT in asked
    assert asked.endswith(QUESTION)


async def test_a_message_of_parts_keeps_its_parts(channel: Channel) -> None:
    """What was recalled is a part of its own in front of them."""
    await taught(channel)
    bot = Bot(channel, "hello", "16")
    await bot.hear("good morning")
    picture = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    await bot.heard([HumanMessage([{"type": "text", "text": QUESTION}, picture])])
    block, question, image = bot.model.calls[1][-1].content
    assert FACT in block["text"]
    assert question == {"type": "text", "text": QUESTION}
    assert image["type"] != "text"


async def test_recalled_text_does_not_enter_the_messages(channel: Channel, root: Path) -> None:
    """The agent keeps what was said, and memory does not read itself."""
    await taught(channel)
    bot = Bot(channel, "It is 16.")
    await bot.hear("good morning")
    state = await bot.heard([HumanMessage(QUESTION)])
    assert state == said(root) == ["good morning", "It is 16.", QUESTION, "It is 16."]


async def test_a_turn_is_made_once_for_all_calls_of_the_model(channel: Channel) -> None:
    """Each call of a turn with tools is sent the same recall."""
    await taught(channel)
    bot = Bot(channel, "hello", tool_call("clock", {}), "It is noon, and 16.", tools=[clock])
    await bot.hear("good morning")
    with before_turns() as made:
        await bot.hear(QUESTION)
    assert made.call_count == 1
    assert FACT in bot.model.sent(1)
    assert FACT in bot.model.sent(2)


async def test_memory_is_told_how_much_of_the_talk_the_model_sees(channel: Channel) -> None:
    """Excerpts of the transcript are older than the agent's messages; of none, all is older."""
    bot = Bot(channel, "Noted.")
    told = []
    for number, one in enumerate((bot, bot, bot, Bot(channel, "Hm."))):
        with before_turns() as made:
            await one.hear("Who was the courier?", known=f"msg-{number}")
        told.append(made.call_args.kwargs["visible"])
    assert told == [Visible.NOTHING, "msg-0", "msg-0", Visible.NOTHING]


# ── what is taken in ──────────────────────────────────────────────────────────────────────────────


async def test_the_talk_is_taken_in_once_with_speakers_and_tools(
    channel: Channel, root: Path
) -> None:
    """A nameless person has no name, a tool its own."""
    bot = Bot(channel, tool_call("clock", {}), "It is noon.", "Good.", tools=[clock])
    await bot.hear("What time is it?")
    await bot.heard([{"role": "user", "content": "thanks"}])
    assert logged(root) == [
        ("user", "Dana", "What time is it?"),
        ("tool", "clock", "noon"),
        ("assistant", "", "It is noon."),
        ("user", "", "thanks"),
        ("assistant", "", "Good."),
    ]


async def test_a_host_that_hands_in_the_whole_talk_each_time_doubles_nothing(
    channel: Channel, root: Path
) -> None:
    """Without a checkpointer LangChain gives the same messages new ids in every call."""
    bot = Bot(channel, "one", "two", checkpointer=None)
    talk: list[dict[str, str]] = []
    for text in ("What is first?", "And then?"):
        talk.append({"role": "user", "content": text})
        answer = (await bot.heard([*talk]))[-1]
        talk.append({"role": "assistant", "content": answer})
    assert said(root) == ["What is first?", "one", "And then?", "two"]


async def test_all_that_people_said_since_the_last_answer_is_taken_in(
    channel: Channel, root: Path
) -> None:
    """In a group a bot hears several messages before it is asked."""
    bot = Bot(channel, "ok")
    await bot.heard(
        [HumanMessage("The build is green.", name="Priya"), HumanMessage("pipi, what is new?")]
    )
    assert said(root) == ["The build is green.", "pipi, what is new?", "ok"]


async def test_the_platforms_ids_are_kept(channel: Channel) -> None:
    """So a message that is taken back on the platform can be forgotten by its id."""
    bot = Bot(channel, "ok")
    await bot.hear("The code name is Lantern.", known="msg-17")
    assert [item.text for item in await channel.talk.detail("msg-17")] == [
        "The code name is Lantern."
    ]


@pytest.mark.parametrize("keeps", [True, False], ids=["checkpointer", "stateless"])
async def test_a_turn_that_is_cancelled_and_tried_again_loses_and_doubles_nothing(
    channel: Channel, root: Path, keeps: bool
) -> None:
    """Cancelled in the model's call; the question is stored then, and once."""
    bot = Bot(channel, "fine", checkpointer=InMemorySaver() if keeps else None)
    began = asyncio.Event()

    async def hang(*_: object, **__: object) -> None:
        began.set()
        await asyncio.sleep(60)

    question = {"role": "user", "content": "Are you there?"}
    with mock.patch.object(ScriptedChatModel, "_agenerate", hang):
        task = asyncio.create_task(bot.heard([question]))
        await began.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert said(root) == ["Are you there?"]
    await bot.heard([question])
    assert said(root) == ["Are you there?", "fine"]


async def test_a_turn_that_is_cancelled_in_a_tool_loses_nothing(
    channel: Channel, root: Path
) -> None:
    """What the model said before it called the tool is stored as well."""
    began = asyncio.Event()

    @tool
    async def slow() -> str:
        """Waits."""
        began.set()
        await asyncio.sleep(60)
        return "done"

    call = tool_call("slow", {})
    call.content = "Let me look."
    bot = Bot(channel, call, tools=[slow])
    task = asyncio.create_task(bot.hear("Is it done?"))
    await began.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert said(root) == ["Is it done?", "Let me look."]


async def test_a_model_that_fails_loses_no_question(channel: Channel, root: Path) -> None:
    """The error is the host's; the message was said all the same."""
    bot = Bot(channel, RuntimeError("no connection"), "back again")
    with pytest.raises(RuntimeError, match="no connection"):
        await bot.hear("Can you hear me?")
    await bot.hear("And now?")
    assert said(root) == ["Can you hear me?", "And now?", "back again"]


async def test_the_same_words_said_again_after_an_answer_are_taken_in_again(
    channel: Channel, root: Path
) -> None:
    """Only a turn that failed is tried once more."""
    bot = Bot(channel, RuntimeError("no connection"), "yes")
    with pytest.raises(RuntimeError):
        await bot.hear("ping")
    for _ in range(2):
        await bot.hear("ping")
    assert said(root) == ["ping", "yes", "ping", "yes"]


async def test_hooks_out_of_order_and_twice_double_nothing(channel: Channel, root: Path) -> None:
    """No hook needs another one before it."""
    middleware = LangChainMiddleware(channel)
    runtime: Any = None
    asked, answer = HumanMessage("Is it on?", id="1"), AIMessage("It is.", id="2")
    await middleware.aafter_agent({"messages": []}, runtime)
    for _ in range(2):
        await middleware.aafter_agent({"messages": [asked, answer]}, runtime)
    seen: list[ModelRequest[Any]] = []

    async def model(request: ModelRequest[Any]) -> Any:
        seen.append(request)

    request = ModelRequest(model=ScriptedChatModel(), messages=[asked, answer])
    await middleware.awrap_model_call(request, model)
    await middleware.aafter_agent({"messages": [asked, answer]}, runtime)
    assert said(root) == ["Is it on?", "It is."]
    assert request.messages == [asked, answer]


async def test_an_agent_that_goes_on_after_a_restart_doubles_nothing(
    channel: Channel, root: Path
) -> None:
    """The checkpointer still has what was said; the middleware is a new one."""
    saver = InMemorySaver()
    await Bot(channel, "noted", checkpointer=saver).hear("The password policy changes in May.")
    await Bot(channel, "in May", checkpointer=saver).hear("When?")
    assert said(root) == ["The password policy changes in May.", "noted", "When?", "in May"]


async def test_a_full_disk_costs_no_answer_and_no_message(channel: Channel, root: Path) -> None:
    """What could not be stored is handed in again with the next turn."""
    bot = Bot(channel, "ok")
    full = StoreError("no space left on device")
    with mock.patch.object(Channel, "after_turn", side_effect=full):
        assert await bot.hear("one") == "ok"
    assert bot.memory.problem == "no space left on device"
    assert said(root) == []
    await bot.hear("two")
    assert bot.memory.problem == ""
    assert said(root) == ["one", "ok", "two", "ok"]


async def test_a_disk_that_was_full_for_many_turns_spoils_none_afterwards(
    channel: Channel, root: Path
) -> None:
    """More turns wait to be stored than the middleware keeps."""
    bot = Bot(channel, "ok")
    with mock.patch.object(Channel, "after_turn", side_effect=StoreError("no space left")):
        for number in range(25):
            await bot.hear(f"question {number}")
    assert await bot.hear("last question") == "ok"
    assert [text for text in said(root) if text != "ok"] == [
        *(f"question {number}" for number in range(25)),
        "last question",
    ]


async def test_turns_of_one_conversation_at_the_same_time_spoil_none(
    channel: Channel, root: Path
) -> None:
    """Two people ask before either is answered; more than the middleware keeps, and again."""
    memory = LangChainMiddleware(channel)
    agent = create_agent(ScriptedChatModel.of("ok"), middleware=[memory])

    async def ask(name: str) -> str:
        state = await agent.ainvoke({"messages": [HumanMessage(f"question {name}", id=name)]})
        return texts(state["messages"])[-1]

    for turn in range(3):
        answers = await asyncio.gather(*(ask(f"{turn}-{number}") for number in range(25)))
        assert answers == ["ok"] * 25
    asked = [text for text in said(root) if text != "ok"]
    assert sorted(asked) == sorted(f"question {t}-{n}" for t in range(3) for n in range(25))


async def test_a_call_without_an_event_loop_is_refused(channel: Channel, root: Path) -> None:
    """LangChain says what to call instead; nothing is stored."""
    bot = Bot(channel, "ok")
    with pytest.raises(NotImplementedError, match="ainvoke"):
        bot.agent.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    assert said(root) == []


# ── the gate ──────────────────────────────────────────────────────────────────────────────────────


def summing_up(trigger: int = 3) -> SummarizationMiddleware:
    """LangChain's own compaction, which keeps the newest message."""
    return SummarizationMiddleware(
        ScriptedChatModel.of("They talked."), trigger=("messages", trigger), keep=("messages", 1)
    )


async def test_the_gate_stores_and_learns_before_messages_are_dropped(
    channel: Channel, root: Path
) -> None:
    """The rule was said in dropped messages alone; it stands in MEMORY.md, and in the snapshot."""
    bot = Bot(channel, "Noted.", compactions=[summing_up()])
    await bot.hear("Remember: never use port 8443 for the staging proxy.")
    state = await bot.heard([HumanMessage("good morning")])
    assert "They talked." in state[0]
    assert "8443" not in " ".join(state)
    assert bot.memory.receipt is not None
    assert bot.memory.receipt.state == "consolidated"
    assert "8443" in memory(root)
    await bot.hear("and a good day")
    assert bot.memory.turn is not None
    assert bot.memory.turn.first
    assert "8443" in str(bot.model.calls[-1][0].text)
    assert said(root)[2:] == ["good morning", "Noted.", "and a good day", "Noted."]


async def test_a_compaction_that_cannot_be_noted_costs_no_answer(
    channel: Channel, root: Path
) -> None:
    """It takes place, and the snapshot is due."""
    bot = Bot(channel, "Noted.", compactions=[summing_up()])
    await bot.hear("Remember: never use port 8443 for the staging proxy.")
    with mock.patch.object(channel_module, "begin_epoch", side_effect=StoreError("disk full")):
        state = await bot.heard([HumanMessage("good morning")])
    assert "They talked." in state[0]
    assert bot.memory.turn is not None
    assert bot.memory.turn.first
    assert said(root)[2:] == ["good morning", "Noted."]


async def test_the_gate_refuses_a_compaction_when_the_model_cannot_learn(root: Path) -> None:
    """With the policy `block` the messages stay, and the talk is on disk."""
    broken = ScriptedAssistant([ModelUnavailable("no key")] * 9)
    async with Pipimem(root, assistant=broken, settings=settings("block")) as pipimem:
        bot = Bot(await pipimem.channel("room"), "Noted.", compactions=[summing_up()])
        await bot.hear("The freeze begins on Monday.")
        state = await bot.heard([HumanMessage("good morning")])
        assert state == ["The freeze begins on Monday.", "Noted.", "good morning", "Noted."]
        assert bot.memory.receipt is not None
        assert bot.memory.receipt.state == "blocked"
        assert said(root) == state


async def test_no_gate_is_asked_while_nothing_is_dropped(channel: Channel) -> None:
    """The hook runs before every call of the model."""
    bot = Bot(channel, "ok", compactions=[summing_up(100)])
    with mock.patch.object(Channel, "before_compaction", side_effect=AssertionError):
        await bot.hear("hello")
    assert bot.memory.receipt is None


async def test_a_gate_of_a_stateless_host_doubles_nothing(channel: Channel, root: Path) -> None:
    """Messages with ids that LangChain made up are known by what they say."""
    bot = Bot(channel, "yes", checkpointer=None, compactions=[summing_up()])
    talk = [{"role": "user", "content": "ping"}]
    await bot.heard(talk)
    await bot.heard([*talk, {"role": "assistant", "content": "yes"}, *talk])
    assert bot.memory.receipt is not None
    assert said(root) == ["ping", "yes", "ping", "yes"]


# ── tools and confinement ─────────────────────────────────────────────────────────────────────────


async def test_the_tools_of_the_channel_are_offered_and_carried_out(
    channel: Channel, root: Path
) -> None:
    """What memory answers is not taken in as something said."""
    await taught(channel)
    save = {"text": "Joost brings the parcels.", "kind": "fact"}
    bot = Bot(
        channel,
        tool_call("memory_save", save),
        tool_call("memory_search", {"query": "Postgres staging"}, "call-2"),
        "Saved.",
    )
    state = await bot.heard([HumanMessage("Keep that, and look it up.")])
    assert bot.model.tools == [one["function"]["name"] for one in channel.tools()]
    assert "Joost brings the parcels." in memory(root)
    assert FACT in state[4]
    assert said(root) == ["Keep that, and look it up.", "Saved."]


async def test_a_wrong_argument_is_told_to_the_model(channel: Channel, root: Path) -> None:
    """Missing and unknown ones alike; nothing is saved."""
    bot = Bot(channel, tool_call("memory_save", {"texxt": "a typo"}), "Sorry.")
    state = await bot.agent.ainvoke({"messages": [HumanMessage("Keep that.")]}, THREAD)
    answer = state["messages"][2]
    assert answer.status == "error"
    assert "there is no argument 'texxt'" in answer.text
    assert "'text' is missing" in answer.text
    assert "typo" not in memory(root)


async def test_tools_may_be_left_out(channel: Channel) -> None:
    """For a bot whose model shall not change memory."""
    assert LangChainMiddleware(channel, tools=False).tools == []


async def test_an_agent_sees_no_other_channel(root: Path) -> None:
    """Two agents, two channels, one workspace."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        await taught(await pipimem.channel("other"))
        bot = Bot(await pipimem.channel("room"), "I do not know.")
        await bot.hear("good morning")
        await bot.hear(QUESTION)
    assert FACT not in bot.model.sent(0) + bot.model.sent(1)
    assert RULE not in bot.model.sent(0) + bot.model.sent(1)


async def test_a_channel_that_keeps_context_is_refused(root: Path) -> None:
    """There entries are shown once only, and the agent would forget them with the next turn."""
    async with Pipimem(root, "offline", settings=settings(), keeps_context=True) as pipimem:
        channel = await pipimem.channel("room")
        with pytest.raises(ArgumentError, match="keeps_context must be off"):
            LangChainMiddleware(channel)
