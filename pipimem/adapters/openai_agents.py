"""Memory for the OpenAI Agents SDK: a `Session` that keeps one conversation's items.

`Runner.run(agent, text, session=session, run_config=config)` runs an agent with it, where `agent`
has `session.tools()` and `config` is `RunConfig(call_model_input_filter=session.add_memory)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

import anyio

from pipimem.errors import ArgumentError, PipimemError
from pipimem.notes.message import Message
from pipimem.runtime.adapter_steps import note_compacted, refuse_kept_context, stored, tool_text
from pipimem.runtime.channel import Channel
from pipimem.runtime.tools.definitions import TOOLS, Language
from pipimem.runtime.transcript_recall import Visible
from pipimem.runtime.turns import Receipt, Turn

try:
    from agents import FunctionTool, SessionSettings, TResponseInputItem
    from agents.memory import OpenAIResponsesCompactionArgs
    from agents.run import CallModelData, ModelInputData
except ImportError as missing:
    raise ImportError(
        "pipimem.adapters.openai_agents needs the OpenAI Agents SDK: "
        "pip install 'pipimem[openai-agents]'"
    ) from missing


_OUTPUT = "function_call_output"


def role_of(item: Mapping[str, Any]) -> str:
    """`user`, `assistant` or another role of a message, `tool` for an output, else nothing."""
    if item.get("type") == _OUTPUT:
        return "tool"
    return str(item.get("role")) if item.get("type") in (None, "message") else ""


def text_of(item: Mapping[str, Any]) -> str:
    """The words of a message or of a tool's output; pictures and files have none."""
    content = item.get("output" if item.get("type") == _OUTPUT else "content")
    return content if isinstance(content, str) else "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        text = part.get("text") or part.get("refusal") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield text


def with_text_before(item: Mapping[str, Any], text: str) -> Any:  # noqa: ANN401 - an item, as it was
    """A copy of a user's message with a text in front of its content."""
    content = item["content"]
    if isinstance(content, str):
        return {**item, "content": f"{text}\n\n{content}"}
    return {**item, "content": [{"type": "input_text", "text": text}, *content]}


def ends_turn(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items hold an answer, and no call of a tool that is still to be answered."""
    is_answered = any(role_of(item) == "assistant" for item in items)
    return is_answered and not any(item.get("type") == "function_call" for item in items)


# An item of these roles is something that was said; others are the host's instructions.
_SAID = {"user": Message.user, "assistant": Message.assistant}


@dataclass(slots=True)
class _Kept:
    """One item of the session, and what memory knows of it as; nothing for what nobody said."""

    item: TResponseInputItem
    message: Message | None


@dataclass(slots=True, eq=False)
class ChannelSession:
    """The items of one conversation, and what memory adds to them.

    What is said is taken into the channel when the SDK stores it. The items themselves are held
    in this object: after a restart the session is empty, and memory gives the model the snapshot
    and what was said before. `add_memory` shows the model what stands and what is recalled, which
    never becomes an item. Above `most_items` all but the newest, about `keep_items`, are dropped at
    the end of a turn, if the gate allows it within `deadline` seconds. `speaker` is who speaks
    next: in a group it is set before each run. `turn` and `receipt` are the newest, `problem` is
    why messages could not be stored. Raises `ArgumentError` for a channel that keeps context.
    """

    channel: Channel
    speaker: str = ""
    most_items: int = 60
    keep_items: int = 20
    deadline: float | None = None
    session_settings: SessionSettings | None = None
    turn: Turn | None = field(default=None, init=False)
    receipt: Receipt | None = field(default=None, init=False)
    problem: str = field(default="", init=False)
    _kept: list[_Kept] = field(default_factory=list, init=False)
    # What may not be stored yet; what is stored already is skipped by its id.
    _waiting: list[Message] = field(default_factory=list, init=False)
    # Ids of what was popped, for when the SDK adds it again.
    _popped: dict[tuple[str, str], list[str]] = field(default_factory=dict, init=False)
    _turn: Turn | None = field(default=None, init=False)
    # How many user messages the model was shown with `_turn`.
    _turn_place: int = field(default=0, init=False)
    _prompt: str | None = field(default=None, init=False)
    # How many items there were when the gate refused.
    _refused_at: int = field(default=0, init=False)
    _lock: anyio.Lock = field(default_factory=anyio.Lock, init=False)

    def __post_init__(self) -> None:
        refuse_kept_context(self.channel, "in the session's items")
        if not 0 <= self.keep_items <= self.most_items:
            raise ArgumentError("keep_items must be from 0 to most_items.")

    @property
    def session_id(self) -> str:
        """The platform's id of the conversation."""
        return self.channel.id

    # ── what the SDK calls ────────────────────────────────────────────────────────────────────────

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, else those that the settings allow, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [kept.item for kept in self._kept]
        if limit is not None:
            items = items[-limit:] if limit > 0 else []
        return deepcopy(items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, and take what was said into the channel.

        What the disk refuses is handed in again with the next items, and at a compaction. Raises
        `ArgumentError` for what is no item.
        """
        if isinstance(items, str) or not all(isinstance(item, Mapping) for item in items):
            raise ArgumentError("The items of a session are dicts, as the SDK makes them.")
        async with self._lock:
            is_over = ends_turn(items)
            # Kept first: what is cancelled from here on is handed in again.
            for item in items:
                message = self._message(item)
                self._kept.append(_Kept(deepcopy(item), message))
                if message is not None:
                    self._waiting.append(message)
            await self._take_in(self._turn if is_over else None)
        if is_over:
            # The SDK asks for a compaction only after a response that has an id.
            await self.run_compaction()

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item out of the session. What was said stays in the channel."""
        async with self._lock:
            if not self._kept:
                return None
            kept = self._kept.pop()
            if kept.message is not None:
                key = kept.message.role, kept.message.content
                self._popped.setdefault(key, []).append(kept.message.id)
                self._waiting = [one for one in self._waiting if one.id != kept.message.id]
            return kept.item

    async def clear_session(self) -> None:
        """End the session: what was said is consolidated, then all items go.

        Raises `PipimemError`, with nothing dropped, where the gate refuses.
        """
        async with self._lock:
            receipt = await self._passed(len(self._kept))
        if not receipt.may_compact:
            raise PipimemError(f"The session is not cleared: {receipt.reason}")

    async def run_compaction(self, args: OpenAIResponsesCompactionArgs | None = None) -> None:
        """Drop the older items, if there are more than `most_items` and the gate allows it.

        With `force` in `args` as soon as there are more than `keep_items`.
        """
        forced = bool(args and args.get("force"))
        async with self._lock:
            count = len(self._kept)
            if forced or (count > self.most_items and count != self._refused_at):
                end = self._oldest_to_keep()
                if end:
                    receipt = await self._passed(end)
                    self._refused_at = 0 if receipt.may_compact else count

    # ── what the host hands to the SDK ────────────────────────────────────────────────────────────

    def tools(self, *, language: Language = "en") -> list[FunctionTool]:
        """The tools of this conversation's memory, for `Agent(tools=…)`."""
        return [
            FunctionTool(
                name=tool["name"],
                description=tool["description"],
                params_json_schema=tool["input_schema"],
                on_invoke_tool=partial(self._call_tool, tool["name"]),
                strict_json_schema=False,  # most arguments are optional
            )
            for tool in self.channel.tools("anthropic", language=language)
        ]

    async def add_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """The model's input with memory: for `RunConfig(call_model_input_filter=…)`.

        What stands goes behind the instructions, what is recalled before the user's message, or
        behind the rest where a handoff hides that message. The session's items stay as they are.
        """
        items = list(data.model_data.input)
        asked = [place for place, item in enumerate(items) if role_of(item) == "user"]
        turn = self._turn
        if asked:
            turn = await self._turn_for(text_of(items[asked[-1]]), len(asked), items)
        if self._prompt is None:
            self._prompt = await self.channel.session_prompt()
        standing, recalled = (turn.standing, turn.recalled) if turn else ("", "")
        if recalled and asked:
            items[asked[-1]] = with_text_before(items[asked[-1]], recalled)
            recalled = ""
        parts = (data.model_data.instructions, self._prompt.strip(), standing, recalled)
        return replace(
            data.model_data, input=items, instructions="\n\n".join(filter(None, parts)) or None
        )

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    async def _take_in(self, turn: Turn | None) -> None:
        """Store what waits, and end the turn where its answer is among it."""
        self.problem = await stored(self.channel, turn, self._waiting)
        if self.problem:
            return
        self._waiting = []
        if turn is not None:
            self._turn = None

    async def _call_tool(self, name: str, _context: object, arguments: str) -> str:
        return await tool_text(self.channel, name, arguments)

    async def _turn_for(self, text: str, place: int, items: Sequence[TResponseInputItem]) -> Turn:
        """The turn of the newest user message; the same in every call of the model for it."""
        if self._turn is None or (self._turn.query, self._turn_place) != (text, place):
            visible = self._visible(items)
            self._turn = await self.channel.before_turn(text, speaker=self.speaker, visible=visible)
            self.turn, self._turn_place = self._turn, place
        return self._turn

    def _visible(self, items: Sequence[TResponseInputItem]) -> Visible | str:
        """The id of the oldest message that is among the items for the model, if any is."""
        left = Counter((role_of(item), text_of(item)) for item in items)
        oldest: Visible | str = Visible.NOTHING
        for kept in reversed(self._kept):
            if kept.message is not None:
                key = role_of(kept.item), text_of(kept.item)
                if not left[key]:
                    break
                left[key] -= 1
                oldest = kept.message.id
        return oldest

    def _message(self, item: TResponseInputItem) -> Message | None:
        """An item as memory is to know it; nothing for what nobody said, and for recalled text."""
        role, text = role_of(item), text_of(item)
        if not text.strip():
            return None
        ids = self._popped.get((role, text))
        name = ids.pop() if ids else f"openai-agents-{uuid4().hex}"
        if role in _SAID:
            speaker = self.speaker if role == "user" else ""
            return _SAID[role](text, id=name, speaker=speaker)
        if role == "tool":
            tool = self._name_of_call(item)
            return None if tool in TOOLS else Message.tool(text, id=name, speaker=tool)
        return None

    def _name_of_call(self, output: TResponseInputItem) -> str:
        """The name of the tool that an output is of; empty where its call is not here."""
        for kept in reversed(self._kept):
            call: Mapping[str, object] = kept.item
            if call.get("type") == "function_call" and call.get("call_id") == output.get("call_id"):
                return str(call.get("name"))
        return ""

    def _oldest_to_keep(self) -> int:
        """Where the items begin that stay: at a user message, so that no call loses its output."""
        last = max(0, len(self._kept) - self.keep_items)
        asked = [place for place, kept in enumerate(self._kept) if role_of(kept.item) == "user"]
        later = [place for place in asked if place >= last]
        return later[0] if later else max(asked, default=0)

    async def _passed(self, end: int) -> Receipt:
        """Ask the gate, and drop the items before `end` if it allows that."""
        messages = [kept.message for kept in self._kept if kept.message is not None]
        receipt = await self.channel.before_compaction(messages, deadline=self.deadline)
        self.receipt = receipt
        if receipt.may_compact:
            del self._kept[:end]
            self._waiting.clear()
            self._popped.clear()
            self._turn = self._prompt = None
            await note_compacted(self.channel, receipt)
        return receipt
