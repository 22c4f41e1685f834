"""AgentScope 2: the memory of one conversation as a middleware of its agent."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import anyio

from pipimem import Channel, Message, Receipt, Turn
from pipimem.runtime.adapter_steps import note_compacted, refuse_kept_context, stored
from pipimem.runtime.tools.definitions import TOOLS, Language
from pipimem.runtime.transcript_recall import Visible

try:
    from agentscope.agent import Agent, ContextConfig
    from agentscope.message import Msg, TextBlock, ToolResultBlock, ToolResultState
    from agentscope.middleware import MiddlewareBase
    from agentscope.permission import PermissionBehavior, PermissionDecision
    from agentscope.tool import ToolBase, ToolChunk
except ImportError as error:
    raise ImportError(
        "pipimem.adapters.agentscope needs AgentScope: pip install 'pipimem[agentscope]'"
    ) from error

_log = logging.getLogger("pipimem")

# What AgentScope calls a person without a name.
_NOBODY = "user"
# `before_turn` looks for the oldest message that the model sees among so many of the newest.
_SEEN_MESSAGES = 150


@dataclass(slots=True)
class _Talk:
    """What is known of one agent's talk: the turn under way, and what was handed to memory."""

    turn: Turn | None = None
    # The id of the message that the turn was made of, and whether memory was told how it ended.
    asked: str = ""
    has_ended: bool = True
    taken: set[str] = field(default_factory=set)


class AgentScopeMiddleware(MiddlewareBase):
    """The memory of one channel for the agent that talks in it.

    The system prompt gets who the bot is (`session_prompt`) and what holds whatever is asked; what
    a message needs goes in front of it, in the model's input only. All that stands in the agent's
    context is taken in when a reply ends, also where it was cancelled. A compaction that the gate
    refuses does not take place. `list_tools` gives the tools of the channel to a toolkit.

    Put it last in `middlewares`: what others add to the system prompt counts for the compaction.
    `turn` and `receipt` are the newest, `problem` is why messages could not be stored; they are
    handed in again with the next reply. Raises `ArgumentError` for a channel that keeps context.
    """

    def __init__(
        self, channel: Channel, *, session_prompt: bool = True, language: Language = "en"
    ) -> None:
        refuse_kept_context(channel, "in the agent's context")
        self.channel = channel
        self.turn: Turn | None = None
        self.receipt: Receipt | None = None
        self.problem = ""
        self._language: Language = language
        self._has_session_prompt = session_prompt
        self._session_prompt = ""
        self._talks: WeakKeyDictionary[Agent, _Talk] = WeakKeyDictionary()

    async def list_tools(self) -> list[ToolBase]:
        """The tools of the channel's memory, for `Toolkit(tools=…)`."""
        tools = self.channel.tools("openai", language=self._language)
        return [_MemoryTool(self.channel, tool["function"]) for tool in tools]

    # ── hooks ─────────────────────────────────────────────────────────────────────────────────────

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:
        """The prompt with who the bot is, and with the standing part of the turn."""
        turn = await self._turn_of(agent)
        if self._has_session_prompt and not self._session_prompt:
            self._session_prompt = await self.channel.session_prompt()
        standing = turn.standing if turn else ""
        return "\n\n".join(filter(None, (current_prompt, self._session_prompt, standing)))

    async def on_model_call(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:  # noqa: ANN401 - a response, or a generator of its parts
        """Puts what was recalled in front of the newest message, in a copy of the input."""
        turn = await self._turn_of(agent)
        messages = input_kwargs["messages"]
        if turn is not None and turn.recalled:
            messages = _with_block(messages, turn.recalled)
        return await next_handler(**{**input_kwargs, "messages": messages})

    async def on_reply(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        """Takes in what stands in the context when the reply ends, however it ends."""
        try:
            async for item in next_handler(**input_kwargs):
                yield item
        finally:
            with anyio.CancelScope(shield=True):
                await self._take_in(agent)

    async def on_compress_context(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[None]],
    ) -> None:
        """Compacts where the gate allows it. Where nothing is to be compacted, no gate is asked."""
        if not await _will_compact(agent, input_kwargs.get("context_config")):
            await next_handler(**input_kwargs)
            return
        pending = self._pending(agent)
        receipt = self.receipt = await self.channel.before_compaction(pending)
        if not receipt.may_compact:
            _log.warning("%s: no compaction, %s", self.channel.id, receipt.reason)
            return
        context, summary = agent.state.context, agent.state.summary
        try:
            await next_handler(**input_kwargs)
        finally:
            # AgentScope carries a compaction out and is cancelled then.
            if agent.state.context is not context or agent.state.summary != summary:
                with anyio.CancelScope(shield=True):
                    await note_compacted(self.channel, receipt)

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    def _talk(self, agent: Agent) -> _Talk:
        return self._talks.setdefault(agent, _Talk())

    async def _turn_of(self, agent: Agent) -> Turn | None:
        """The turn of the newest message of a person; made once, whichever hook comes first."""
        talk, context = self._talk(agent), agent.state.context
        place = _newest_of_a_person(context)
        if place is None or context[place].id == talk.asked:
            return talk.turn
        if place:
            # What was observed, or said in a reply that nobody heard the end of.
            await self._take_in(agent, upto=place)
        asked = context[place]
        talk.turn = self.turn = await self.channel.before_turn(
            _text(asked), speaker=_speaker(asked), visible=self._visible(agent, place)
        )
        talk.asked, talk.has_ended = asked.id, False
        if talk.turn.first:
            self._session_prompt = ""
        return talk.turn

    def _visible(self, agent: Agent, place: int) -> Visible | str:
        """The id of the oldest message before a place that the model sees, if any."""
        said = [*_said(agent.state.context[:place], agent.name)][-_SEEN_MESSAGES:]
        known = self._talk(agent).taken
        return next((message.id for message in said if message.id in known), Visible.NOTHING)

    async def _take_in(self, agent: Agent, upto: int | None = None) -> None:
        """Stores what of the context was not stored yet, and ends the turn where all of it is.

        What the disk refuses is handed in again by the next reply, or by the gate.
        """
        talk, pending = self._talk(agent), self._pending(agent, upto)
        turn = talk.turn if not talk.has_ended else None
        if not pending and turn is None:
            return
        self.problem = await stored(self.channel, turn, pending)
        if self.problem:
            return
        talk.has_ended = True
        in_context = {message.id for message in _said(agent.state.context, agent.name)}
        talk.taken &= in_context
        talk.taken.update(message.id for message in pending)

    def _pending(self, agent: Agent, upto: int | None = None) -> list[Message]:
        """The messages of the context, before a place if one is given, that were not stored yet."""
        known = self._talk(agent).taken
        found: dict[str, Message] = {}
        for message in _said(agent.state.context[:upto], agent.name):
            if message.id not in known:
                found.setdefault(message.id, message)
        return [*found.values()]


class _MemoryTool(ToolBase):
    """One tool of a channel's memory; it needs nobody's permission, for a person can undo it."""

    def __init__(self, channel: Channel, definition: dict[str, Any]) -> None:
        super().__init__()
        self.name = definition["name"]
        self.description = definition["description"]
        self.input_schema = definition["parameters"]
        self.is_read_only = self.is_concurrency_safe = TOOLS[self.name].reads_only
        self._channel = channel

    async def check_permissions(self, *_args: object, **_kwargs: object) -> PermissionDecision:
        """Always allowed."""
        return PermissionDecision(PermissionBehavior.ALLOW, "the memory of this conversation")

    async def call(self, **arguments: object) -> ToolChunk:
        """The result as JSON; what is wrong with the arguments stands in it."""
        result = await self._channel.call_tool(self.name, arguments)
        chunk = ToolChunk(content=[TextBlock(text=result.text)])
        if result.is_error:
            chunk.state = ToolResultState.ERROR
        return chunk


async def _will_compact(agent: Agent, config: ContextConfig | None) -> bool:
    """Whether `compress_context` would compact now: the same sum as AgentScope's own."""
    chosen = config or agent.context_config
    # The only place that knows the whole input of the next call.
    model_input = await agent._prepare_model_input()  # noqa: SLF001
    tokens: int = await agent.model.count_tokens(**model_input)
    return bool(tokens >= chosen.trigger_ratio * agent.model.context_size)


def _newest_of_a_person(messages: Sequence[Msg]) -> int | None:
    places = [place for place, message in enumerate(messages) if message.role == "user"]
    return places[-1] if places else None


def _with_block(messages: Sequence[Msg], block: str) -> list[Msg]:
    """A copy of the messages with a block in front of what a person said last.

    Where that was compacted away the newest message of a user is the summary of it.
    """
    copied, place = [*messages], _newest_of_a_person(messages)
    if place is not None:
        content = [TextBlock(text=block), *messages[place].content]
        copied[place] = messages[place].model_copy(update={"content": content})
    return copied


# ── messages ──────────────────────────────────────────────────────────────────────────────────────


def _said(messages: Sequence[Msg], agent: str) -> Iterator[Message]:
    """What was said in messages of AgentScope; an assistant's parts have ids of their own.

    Hints, thoughts and calls were said by nobody, and what memory itself answered is no news.
    """
    for message in messages:
        time = _time(message)
        if message.role == "user":
            yield Message.user(_text(message), id=message.id, time=time, speaker=_speaker(message))
            continue
        speaker = "" if message.name == agent else message.name
        for block in message.content:
            name = f"{message.id}:{block.id}"
            if isinstance(block, TextBlock) and block.text.strip():
                yield Message.assistant(block.text, id=name, time=time, speaker=speaker)
            elif isinstance(block, ToolResultBlock) and block.name not in TOOLS:
                yield Message.tool(_output(block), id=name, time=time, speaker=block.name)


def _text(message: Msg) -> str:
    return message.get_text_content() or ""


def _speaker(message: Msg) -> str:
    return "" if message.name == _NOBODY else str(message.name)


def _output(block: ToolResultBlock) -> str:
    if isinstance(block.output, str):
        return block.output
    return "\n".join(part.text for part in block.output if isinstance(part, TextBlock))


def _time(message: Msg) -> datetime | None:
    """When a message was made; AgentScope writes it in the machine's zone, without an offset."""
    with suppress(ValueError):
        return datetime.fromisoformat(message.created_at).astimezone()
    return None
