"""Memory for Pydantic AI: a capability that gives an agent the memory of one conversation.

`Agent(…, capabilities=[ChannelCapability(channel)])` serves one conversation; a bot of many hands
one in for each run: `agent.run(text, capabilities=[ChannelCapability(channel, speaker=name)])`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from pipimem.errors import ArgumentError
from pipimem.notes.message import Message
from pipimem.runtime.adapter_steps import note_compacted, refuse_kept_context, stored, tool_text
from pipimem.runtime.channel import Channel
from pipimem.runtime.tools.definitions import Language
from pipimem.runtime.turns import Receipt, Turn, Visible

try:
    from pydantic_ai import AgentRunResult, DeferredToolRequests, RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_core import to_json

    from pipimem.adapters.pydantic_ai.model_messages import (
        beginning_with,
        is_prompt,
        message_id,
        prompt_of,
        said_in,
        words_of,
    )
except ImportError as missing:
    raise ImportError(
        "pipimem.adapters.pydantic_ai needs Pydantic AI: pip install 'pipimem[pydantic-ai]'"
    ) from missing


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
