"""Memory for Pydantic AI: a capability that gives an agent the memory of one conversation.

`Agent(…, capabilities=[ChannelCapability(channel)])` serves one conversation; a bot of many hands
one in for each run: `agent.run(text, capabilities=[ChannelCapability(channel, speaker=name)])`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any

import anyio

from pipimem.errors import ArgumentError
from pipimem.notes.message import Message
from pipimem.runtime.adapter_steps import note_compacted, refuse_kept_context, stored, tool_text
from pipimem.runtime.channel import Channel
from pipimem.runtime.tools.definitions import TOOLS, Language
from pipimem.runtime.transcript_recall import Visible
from pipimem.runtime.turns import Receipt, Turn

try:
    from pydantic_ai import AgentRunResult, DeferredToolRequests, RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        TextContent,
        TextPart,
        ToolReturnPart,
        UserContent,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_core import to_json
except ImportError as missing:
    raise ImportError(
        "pipimem.adapters.pydantic_ai needs Pydantic AI: pip install 'pipimem[pydantic-ai]'"
    ) from missing


# What the tool returns by which an agent gives structured output; the output itself is taken in.
_OUTPUT_DONE = "Final result processed."


def said_in(
    messages: Sequence[ModelMessage], run: str | None = None, speaker: str = ""
) -> list[Message]:
    """What was said in runs of agents.

    What a host wrote into the history itself belongs to no run. Only those of `run` are said by
    `speaker` and now.
    """
    found = []
    copies: Counter[str] = Counter()  # providers tell the time of an answer in whole seconds
    for message in messages:
        is_own = message.run_id is not None and message.run_id == run
        for said in _parts_said(message) if message.run_id is not None else ():
            copies[said.id] += 1
            if copies[said.id] > 1:
                said = replace(said, id=f"{said.id}-{copies[said.id]}")
            if is_own:
                name = speaker if said.role == "user" else said.speaker
                said = replace(said, time=None, speaker=name)
            found.append(said)
    return found


def _parts_said(message: ModelMessage) -> Iterator[Message]:
    """The parts of a message that somebody said; what memory's own tools returned is no news."""
    for place, part in enumerate(message.parts):
        time: datetime | None = message.timestamp
        if isinstance(part, TextPart):
            said = Message.assistant(part.content)
        elif isinstance(part, UserPromptPart):
            said, time = Message.user(words_of(part.content)), part.timestamp
        elif isinstance(part, ToolReturnPart) and part.tool_name not in TOOLS:
            said = Message.tool(part.model_response_str(), speaker=part.tool_name)
            time = part.timestamp
        else:
            continue
        if said.content.strip() and said.content != _OUTPUT_DONE:
            name = message_id(said.role, message.run_id, f"{time} {place} {said.content}")
            yield Message(said.role, said.content, name, time and time.astimezone(), said.speaker)


def message_id(role: str, run: str | None, text: str) -> str:
    """The id of something said in a run."""
    digest = blake2b(f"{role} {run} {text}".encode("utf-8", "surrogatepass"), digest_size=16)
    return f"pydantic-ai-{digest.hexdigest()}"


def words_of(content: str | Sequence[UserContent]) -> str:
    """The words of a prompt; pictures and files have none."""
    if isinstance(content, str):
        return content
    texts = (part.content if isinstance(part, TextContent) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def prompt_of(ctx: RunContext[Any]) -> str:
    """The words of a run's prompt; of one that goes on with a history, of the newest in that."""
    text = words_of(ctx.prompt or "")
    if not text:
        parts = (part for message in reversed(ctx.messages) for part in message.parts[::-1])
        asked = (words_of(part.content) for part in parts if isinstance(part, UserPromptPart))
        text = next(asked, "")
    return text


def is_prompt(message: ModelMessage) -> bool:
    """Whether a person said something in a message."""
    is_request = isinstance(message, ModelRequest)
    return is_request and any(isinstance(part, UserPromptPart) for part in message.parts)


def beginning_with(first: ModelMessage, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages from one of them on; all where it is not among them."""
    places = [place for place, message in enumerate(messages) if message is first]
    return list(messages[places[0] if places else 0 :])


@dataclass(slots=True)
class _Run:
    """One run under way: its turn, and the message with which what the gate left begins.

    `messages` is the history as its newest request has it; the list goes on growing.
    """

    turn: Turn | None = None
    keep_from: ModelMessage | None = None
    messages: Sequence[ModelMessage] = ()


@dataclass(eq=False)
class ChannelCapability(AbstractCapability[Any]):
    """What stands and what is recalled as instructions, the tools, the take-in, and the gate.

    Instructions are no part of the messages, so nothing recalled is taken for said. At the end of a
    run, also of one that fails, what was said in it is taken into the channel. With more than
    `most_messages` in the history all but the newest, about `keep_messages`, go before the first
    request, if the gate allows it within `deadline` seconds; `result.all_messages()` is without
    them. `turn` and `receipt` are the newest, `problem` is why messages could not be stored; they
    are handed in again with the next run that has them in its history. Raises `ArgumentError` for a
    channel that keeps context.
    """

    channel: Channel
    speaker: str = ""
    language: Language = "en"
    most_messages: int = 60
    keep_messages: int = 20
    deadline: float | None = None
    turn: Turn | None = field(default=None, init=False)
    receipt: Receipt | None = field(default=None, init=False)
    problem: str = field(default="", init=False)
    _runs: dict[str, _Run] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        refuse_kept_context(self.channel, "in the history")
        if not 0 <= self.keep_messages <= self.most_messages:
            raise ArgumentError("keep_messages must be from 0 to most_messages.")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Nothing: a channel cannot be written into a file."""
        return None

    # ── hooks ─────────────────────────────────────────────────────────────────────────────────────

    def get_instructions(self) -> Any:  # noqa: ANN401 - a union that the library writes out
        """What stands, then what is recalled; asked for again before each request."""
        return [self._standing, self._recalled]

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tools of this conversation's memory."""
        return FunctionToolset(
            [
                Tool.from_schema(
                    partial(self._call_tool, tool["name"]),
                    name=tool["name"],
                    description=tool["description"],
                    json_schema=tool["input_schema"],
                )
                for tool in self.channel.tools("anthropic", language=self.language)
            ]
        )

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Drops from the history what the gate let go."""
        run = self._run(ctx)
        if run.keep_from is not None:
            request_context.messages = beginning_with(run.keep_from, request_context.messages)
            ctx.messages[:] = beginning_with(run.keep_from, ctx.messages)
            run.keep_from = None
        run.messages = ctx.messages
        return request_context

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Takes in what was said in the run, and what an earlier one could not store."""
        run = self._run(ctx)
        said = said_in(result.all_messages(), ctx.run_id, self.speaker)
        if not isinstance(result.output, (str, DeferredToolRequests)):
            text = to_json(result.output, fallback=str).decode()
            said.append(Message.assistant(text, id=message_id("output", ctx.run_id, text)))
        if await self._take_in(run.turn, said):
            run.turn = None
        return result

    async def wrap_run(
        self, ctx: RunContext[Any], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        """Takes in what was said before a run failed or was cancelled, too."""
        has_succeeded = False
        try:
            result = await handler()
            has_succeeded = True
            return result
        finally:
            try:
                if not has_succeeded:
                    with anyio.CancelScope(shield=True):
                        await self._take_in(None, self._said_before_failure(ctx))
            finally:
                self._runs.pop(ctx.run_id or "", None)

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    def _run(self, ctx: RunContext[Any]) -> _Run:
        return self._runs.setdefault(ctx.run_id or "", _Run())

    async def _standing(self, ctx: RunContext[Any]) -> str:
        """Who the bot is, where its memory lies, and what holds whatever is asked."""
        turn = await self._turn(ctx)
        prompt = await self.channel.session_prompt()
        return "\n\n".join(filter(None, (prompt.strip(), turn.standing if turn else "")))

    async def _recalled(self, ctx: RunContext[Any]) -> str:
        turn = await self._turn(ctx)
        return turn.recalled if turn else ""

    async def _turn(self, ctx: RunContext[Any]) -> Turn | None:
        """The turn of the run's prompt, made before its first request; none without a prompt."""
        run, text = self._run(ctx), prompt_of(ctx)
        if run.turn is None and text:
            history = [message for message in ctx.messages if message.run_id != ctx.run_id]
            run.keep_from = await self._passed(history)
            if run.keep_from is not None:
                history = beginning_with(run.keep_from, history)
            seen = said_in(history)
            run.turn = self.turn = await self.channel.before_turn(
                text, speaker=self.speaker, visible=seen[0].id if seen else Visible.NOTHING
            )
        return run.turn

    async def _passed(self, history: Sequence[ModelMessage]) -> ModelMessage | None:
        """Where there are too many messages: the one with which those begin that the gate leaves.

        It is one with a prompt, so that no call of a tool loses what it returned.
        """
        asked = [place for place, message in enumerate(history) if is_prompt(message)]
        last = len(history) - self.keep_messages
        place = next((place for place in asked if place >= last), max(asked, default=0))
        if len(history) <= self.most_messages or not place:
            return None
        said = said_in(history)
        self.receipt = await self.channel.before_compaction(said, deadline=self.deadline)
        if not self.receipt.may_compact:
            return None
        await note_compacted(self.channel, self.receipt)
        return history[place]

    def _said_before_failure(self, ctx: RunContext[Any]) -> list[Message]:
        """What was said in a run that did not end; the prompt alone where no request was made."""
        said = said_in(self._run(ctx).messages, ctx.run_id, self.speaker)
        text = words_of(ctx.prompt or "")
        if said or not text:
            return said
        return [Message.user(text, id=message_id("prompt", ctx.run_id, text), speaker=self.speaker)]

    async def _take_in(self, turn: Turn | None, said: Sequence[Message]) -> bool:
        """Stores what was said, and ends the turn; false where the disk refuses."""
        self.problem = await stored(self.channel, turn, said)
        return not self.problem

    async def _call_tool(self, name: str, **arguments: Any) -> str:  # noqa: ANN401 - the model's
        return await tool_text(self.channel, name, arguments)
