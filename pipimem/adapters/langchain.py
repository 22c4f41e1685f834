"""LangChain: the memory of one conversation as a middleware of an agent made by `create_agent`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

import anyio

from pipimem import Channel, Message, Receipt, Turn, Visible
from pipimem.runtime.adapter_steps import note_compacted, refuse_kept_context, stored
from pipimem.runtime.tools.definitions import TOOLS, Language

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        RemoveMessage,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.tools import StructuredTool, ToolException
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise ImportError(
        "pipimem.adapters.langchain needs LangChain: pip install 'pipimem[langchain]'"
    ) from error


__all__ = ["LangChainMiddleware"]


def tools_of(channel: Channel, language: Language) -> list[StructuredTool]:
    """All tools; what a model does wrong comes back as the text of a failed call."""
    return [
        _tool(channel, definition["function"])
        for definition in channel.tools("openai", language=language)
    ]


def _tool(channel: Channel, definition: dict[str, Any]) -> StructuredTool:
    async def call(**arguments: object) -> str:
        result = await channel.call_tool(definition["name"], arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text

    return StructuredTool(
        name=definition["name"],
        description=definition["description"],
        args_schema=definition["parameters"],
        coroutine=call,
        handle_tool_error=True,
    )


def newest_of_a_person(messages: Sequence[BaseMessage]) -> int | None:
    places = [place for place, message in enumerate(messages) if is_of_a_person(message)]
    return places[-1] if places else None


def is_of_a_person(message: BaseMessage) -> bool:
    """Summaries of what was dropped come as messages of a person, too."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def turn_start(messages: Sequence[BaseMessage], place: int) -> int:
    """Where the turn of a message begins: behind the newest answer before it."""
    answers = [at for at in range(place) if isinstance(messages[at], AIMessage)]
    return answers[-1] + 1 if answers else 0


def said_in(messages: Iterable[BaseMessage]) -> Iterator[Message]:
    """What was said in messages of LangChain; what memory's own tools answered is no news."""
    for message in messages:
        text, name = str(message.text), message.id or ""
        if is_of_a_person(message):
            yield Message.user(text, id=name, speaker=message.name or "")
        elif isinstance(message, AIMessage) and text.strip():
            yield Message.assistant(text, id=name)
        elif isinstance(message, ToolMessage) and message.name not in TOOLS:
            yield Message.tool(text, id=name, speaker=message.name or "")


def wording(message: Message) -> tuple[str, str, str]:
    return message.role, message.speaker, message.content


def is_made_up(name: str) -> bool:
    """Whether an id is one that LangChain gives to a message without any."""
    try:
        return bool(UUID(name))
    except ValueError:
        return not name


def with_block(message: AnyMessage, block: str) -> AnyMessage:
    """A copy of a message with a block in front of its text."""
    if isinstance(message.content, str):
        content: str | list[Any] = f"{block}\n\n{message.content}"
    else:
        content = [{"type": "text", "text": block}, *message.content]
    return message.model_copy(update={"content": content})


def with_text(message: SystemMessage | None, text: str) -> SystemMessage:
    """A copy of the system message with a text behind its own."""
    if message is None:
        return SystemMessage(text)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}\n\n{text}"})
    return message.model_copy(
        update={"content": [*message.content, {"type": "text", "text": text}]}
    )


A = TypeVar("A")
_log = logging.getLogger("pipimem")

# Of so many turns it is known what was asked, and of so many messages that they are stored.
_TURNS, _MESSAGES = 20, 1_000


@dataclass(slots=True)
class _OpenTurn:
    """A turn and what is known to be said in it, by the ids of the messages."""

    turn: Turn
    messages: dict[str, Message] = field(default_factory=dict)
    has_ended: bool = False


class LangChainMiddleware(AgentMiddleware[Any, Any, Any]):
    """The memory of one channel for an agent that serves it alone.

    The system message gets who the bot is (`session_prompt`) and what holds whatever is asked; what
    a message needs goes in front of it. Both go into the request only, never into the agent's
    messages. When the agent has answered, fails or is cancelled, what was said is taken in. `tools`
    are those of the channel's memory. A compaction that the gate may refuse is wrapped by `gated`.

    `turn` and `receipt` are the newest, `problem` is why messages could not be stored; they are
    handed in again with the next turn. It works with `ainvoke` and `astream` only. Raises
    `ArgumentError` for a channel that keeps context.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        session_prompt: bool = True,
        tools: bool = True,
        language: Language = "en",
    ) -> None:
        super().__init__()
        refuse_kept_context(channel, "among the agent's messages")
        self.channel = channel
        self.tools = tools_of(channel, language) if tools else []
        self.turn: Turn | None = None
        self.receipt: Receipt | None = None
        self.problem = ""
        self._has_session_prompt = session_prompt
        self._session_prompt = ""
        # By the id of the person's message.
        self._turns: dict[str, _OpenTurn] = {}
        self._stored: dict[str, None] = {}
        # Of turns that failed since the last one ended: the ids by role, speaker and text.
        self._unanswered: dict[tuple[str, str, str], str] = {}

    def gated(self, compaction: AgentMiddleware[Any, Any, Any]) -> AgentMiddleware[Any, Any, Any]:
        """A middleware that drops messages before a model call, such as `SummarizationMiddleware`.

        What it would drop is learnt from first; where that cannot be, it drops nothing. Of its
        hooks only `abefore_model` is called.
        """
        return _GatedCompaction(self, compaction)

    # ── hooks ─────────────────────────────────────────────────────────────────────────────────────

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Calls the model with what memory has to say; stores the question where that fails."""
        turn = await self._turn_of(request.messages)
        request = await self._with_memory(request, turn)
        return await self._guarded(turn, handler(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Calls the tool; stores what was said so far where that fails."""
        turn = await self._turn_of(request.state["messages"])
        return await self._guarded(turn, handler(request))

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:  # noqa: ARG002
        """Takes in what was said in the turn, and ends it."""
        turn = await self._turn_of(state["messages"])
        if turn is not None:
            with anyio.CancelScope(shield=True):
                await self._store(turn, ends=True)

    # ── what the model is sent ────────────────────────────────────────────────────────────────────

    async def _with_memory(
        self, request: ModelRequest[Any], opened: _OpenTurn | None
    ) -> ModelRequest[Any]:
        if self._has_session_prompt and not self._session_prompt:
            self._session_prompt = await self.channel.session_prompt()
        standing = opened.turn.standing if opened else ""
        recalled = opened.turn.recalled if opened else ""
        messages = [*request.messages]
        place = newest_of_a_person(messages)
        if place is not None and recalled:
            messages[place] = with_block(messages[place], recalled)
        elif recalled:  # the question itself was compacted away
            standing = f"{standing}\n\n{recalled}"
        added = "\n\n".join(filter(None, (self._session_prompt, standing)))
        if added:
            request = request.override(system_message=with_text(request.system_message, added))
        return request.override(messages=messages)

    async def _turn_of(self, messages: Sequence[AnyMessage]) -> _OpenTurn | None:
        """The turn of the newest message of a person; made once, whichever hook comes first."""
        place = newest_of_a_person(messages)
        if place is None:
            return next(reversed(self._turns.values()), None)
        asked = messages[place]
        name = asked.id or str(asked.text)
        opened = self._turns.get(name)
        said = [*said_in(messages[turn_start(messages, place) :])]
        if opened is None:
            # Another turn of the conversation may begin or end while this one waits.
            for other in [*self._turns.values()]:
                await self._store(other)
            turn = self.turn = await self.channel.before_turn(
                str(asked.text),
                speaker=asked.name or "",
                visible=self._visible(messages[:place]),
            )
            if turn.first:
                self._session_prompt = ""
            opened = self._turns[name] = _OpenTurn(turn)
        opened.messages.update((message.id, message) for message in self._as_before(said))
        return opened

    def _visible(self, earlier: Sequence[AnyMessage]) -> Visible | str:
        """The oldest of the earlier messages that is known to be stored.

        Nothing where there are no earlier ones. Where a host hands them in without ids of its own,
        none is known, and the newest ten messages count as seen.
        """
        if not earlier:
            return Visible.NOTHING
        known = (message.id for message in earlier if message.id in self._stored)
        return next(known, Visible.NEWEST)

    # ── what is taken in ──────────────────────────────────────────────────────────────────────────

    async def _guarded(self, opened: _OpenTurn | None, answer: Awaitable[A]) -> A:
        """The answer; where it fails or is cancelled, what was said so far is stored."""
        is_answered = False
        try:
            found = await answer
            is_answered = True
            return found
        finally:
            if not is_answered and opened is not None:
                with anyio.CancelScope(shield=True):
                    await self._store(opened)
                said = opened.messages.values()
                self._unanswered.update({wording(message): message.id for message in said})

    async def _store(self, opened: _OpenTurn, *, ends: bool = False) -> None:
        """Stores what was said in a turn and is not stored yet, and ends the turn if it `ends`."""
        is_over = ends and not opened.has_ended
        if not await self._keep(opened.messages.values(), opened.turn if is_over else None):
            return
        if is_over:
            opened.has_ended = True
            opened.messages.clear()
            self._unanswered.clear()
        self._forget_old()

    async def _keep(self, messages: Iterable[Message], turn: Turn | None = None) -> bool:
        """Stores messages that are not stored yet, and ends a turn if one is given.

        What the disk refuses is handed in again with the next turn, or by the gate.
        """
        pending = [message for message in messages if message.id not in self._stored]
        if not pending and turn is None:
            return True
        self.problem = await stored(self.channel, turn, pending)
        if self.problem:
            return False
        self._stored.update((message.id, None) for message in pending)
        return True

    def _forget_old(self) -> None:
        for name in [*self._turns][:-_TURNS]:
            if self._turns[name].messages.keys() <= self._stored.keys():
                del self._turns[name]
        for name in [*self._stored][:-_MESSAGES]:
            del self._stored[name]

    def _as_before(self, said: Iterable[Message]) -> Iterator[Message]:
        """The messages, with their former ids where a turn that failed is tried once more.

        LangChain gives new ids to messages that are handed in again without any.
        """
        for message in said:
            known = message.id in self._stored or not is_made_up(message.id)
            name = "" if known else self._unanswered.get(wording(message), "")
            yield replace(message, id=name) if name else message

    async def may_drop(self, messages: Sequence[AnyMessage]) -> bool:
        """Whether messages may be dropped: what is in them is on disk, and learnt if it can be.

        Messages with ids that LangChain made up are known by what they say.
        """
        for opened in [*self._turns.values()]:
            await self._store(opened)
        place = newest_of_a_person(messages)
        if place is not None:  # no turn was made of it yet
            newest = said_in(messages[turn_start(messages, place) :])
            await self._keep(self._as_before(newest))
        said: list[Message] = []
        for message in said_in(messages):
            is_unknown = is_made_up(message.id) and message.id not in self._stored
            said.append(replace(message, id="") if is_unknown else message)
        self.receipt = await self.channel.before_compaction(said)
        if not self.receipt.may_compact:
            _log.warning("%s: no compaction, %s", self.channel.id, self.receipt.reason)
            return False
        await note_compacted(self.channel, self.receipt)
        return True


class _GatedCompaction(AgentMiddleware[Any, Any, Any]):
    """Lets another middleware drop messages where memory allows it."""

    def __init__(
        self, memory: LangChainMiddleware, compaction: AgentMiddleware[Any, Any, Any]
    ) -> None:
        super().__init__()
        self.state_schema = compaction.state_schema
        self.tools = []
        self._memory, self._compaction = memory, compaction

    @property
    def name(self) -> str:
        return f"Gated{self._compaction.name}"

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        update = await self._compaction.abefore_model(state, runtime)
        changes = (update or {}).get("messages", [])
        if not any(isinstance(change, RemoveMessage) for change in changes):
            return update
        return update if await self._memory.may_drop(state["messages"]) else None
