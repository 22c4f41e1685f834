"""The sidecar that asks models: each attempt accounted for, each answer parsed strictly or refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import anyio

from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.notes.message import Message
from pipimem.notes.usage import Usage
from pipimem.sidecar import rendering
from pipimem.sidecar.contracts import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    Refresh,
    Refreshed,
    Rerank,
    Reranked,
    Tidied,
    Tidy,
)
from pipimem.sidecar.door import Ask, Completion, Door, FormatUnsupported, ModelBusy, Schema, Turn
from pipimem.sidecar.litellm_door import LiteLLM
from pipimem.sidecar.prompts import Prompts
from pipimem.sidecar.wire import consolidation, folding, refreshing, reranking, tidying

T = TypeVar("T")

# Room for the longest answer the schema allows, and for a model that thinks before it answers.
_CONSOLIDATE_TOKENS = 8000
_REFRESH_TOKENS = 4000
_TIDY_TOKENS = 6000
_FOLD_TOKENS = 4000
_RERANK_TOKENS = 300
_CHAT_TOKENS = 4000

# A busy model is asked three times, about 0.5 and 1 s apart: a fourth would only add to the load.
_TRIES = 3
_FIRST_WAIT = 0.5
# While another model could still step in, one model may not use up all the time.
_SHARE_OF_TIME = 0.6
# We end a moment before the caller's own deadline, so that the ledger says what happened.
_OF_THE_CALLERS_TIME = 0.97
_REASON_CHARS = 200
_AGAIN = "Your last answer was refused: {reason}\nAnswer anew, with the whole answer."


@dataclass(frozen=True, slots=True)
class _Thought:
    """One task on its way: what is asked, and when it must end on the monotonic clock."""

    task: str
    call: Call
    turns: tuple[Turn, ...]
    schema: Schema | None
    max_tokens: int
    end: float


class ModelAssistant:
    """`Assistant` on a model and its fallbacks, in order.

    `prompts` is the workspace's folder of own prompts. `record` takes every attempt, also failed ones.
    `wall` and `monotonic` are the runtime's clocks, `concurrency` bounds the requests under way at a time.
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        prompts: Path | None,
        record: Callable[[Usage], None],
        wall: Callable[[], datetime],
        monotonic: Callable[[], float],
        concurrency: int = 4,
        door: Door | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        if not models:
            raise ValueError("a ModelAssistant needs at least one model")
        self._models = tuple(dict.fromkeys(models))
        self._prompts = Prompts(prompts)
        self._record = record
        self._wall = wall
        self._monotonic = monotonic
        self._door = door or LiteLLM()
        self._chance = chance
        self._places = concurrency
        self._limiter: anyio.Semaphore | None = None

    @property
    def name(self) -> str:
        """The first model's name."""
        return self._models[0]

    @property
    def paid(self) -> bool:
        """A thought may cost something."""
        return True

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:
        """What to keep; raises `SidecarError` when no model gave an acceptable answer, as do the others."""
        values = rendering.consolidate_values(task, call.channel)
        thought = self._thought("consolidate", values, call, consolidation.schema(task), _CONSOLIDATE_TOKENS)
        return await self._answered(thought, lambda text: consolidation.parsed(text, task))

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:
        """What is going on now."""
        values = rendering.refresh_values(task)
        thought = self._thought("refresh", values, call, refreshing.SCHEMA, _REFRESH_TOKENS)
        return await self._answered(thought, refreshing.parsed)

    async def tidy(self, task: Tidy, call: Call) -> Tidied:
        """What to merge, re-file or drop."""
        thought = self._thought("tidy", rendering.tidy_values(task), call, tidying.schema(task), _TIDY_TOKENS)
        return await self._answered(thought, lambda text: tidying.parsed(text, task))

    async def fold(self, task: Fold, call: Call) -> Folded:
        """One shorter block for a month."""
        thought = self._thought("fold", rendering.fold_values(task), call, folding.schema(task), _FOLD_TOKENS)
        return await self._answered(thought, lambda text: folding.parsed(text, task))

    async def rerank(self, task: Rerank, call: Call) -> Reranked:
        """Which candidates answer a question."""
        thought = self._thought("rerank", rendering.rerank_values(task), call, reranking.SCHEMA, _RERANK_TOKENS)
        return await self._answered(thought, lambda text: reranking.parsed(text, task))

    async def chat(self, messages: Sequence[Message], call: Call) -> str:
        """A bot's reply to a conversation, in the ledger as `chat`; tool messages count as the user's."""
        turns = tuple(
            Turn(message.role if message.role in {"system", "assistant"} else "user", message.content)
            for message in messages
        )
        thought = _Thought("chat", call, turns, None, _CHAT_TOKENS, self._end(call))
        return await self._answered(thought, _spoken)

    # ── one thought ─────────────────────────────────────────────────────────────────────────────────

    def _thought(self, task: str, values: dict[str, str], call: Call, schema: Schema, max_tokens: int) -> _Thought:
        system, user = self._prompts.rendered(task, values)
        return _Thought(task, call, (Turn("system", system), Turn("user", user)), schema, max_tokens, self._end(call))

    def _end(self, call: Call) -> float:
        return self._monotonic() + call.timeout * _OF_THE_CALLERS_TIME

    async def _answered(self, thought: _Thought, parse: Callable[[str], T]) -> T:
        if self._limiter is None:
            self._limiter = anyio.Semaphore(self._places)
        async with self._limiter:
            last: SidecarError = ModelTimeout(f"No time was left to ask {self._models[0]}.")
            for model in self._models:
                try:
                    return await self._asked_twice(thought, model, parse)
                except (ModelUnavailable, ModelTimeout) as reason:
                    last = reason
                    if self._left(thought) <= 0:
                        break
            raise last

    async def _asked_twice(self, thought: _Thought, model: str, parse: Callable[[str], T]) -> T:
        """The answer; one that was refused is asked for once more, with the reason."""
        try:
            return await self._patiently(thought, model, thought.turns, parse)
        except AnswerRefused as reason:
            again = Turn("user", f"{thought.turns[-1].content}\n\n{_AGAIN.format(reason=reason)}")
            return await self._patiently(thought, model, (*thought.turns[:-1], again), parse)

    async def _patiently(self, thought: _Thought, model: str, turns: tuple[Turn, ...], parse: Callable[[str], T]) -> T:
        """The answer of a model that may be busy for a moment."""
        tries = 1
        while True:
            try:
                return await self._attempt(thought, model, turns, parse)
            except FormatUnsupported:
                continue  # the door asks for less structure now; it can step down twice at most
            except ModelBusy as busy:
                wait = self._wait(tries, busy)
                if tries == _TRIES or wait >= self._left(thought):
                    raise
            await anyio.sleep(wait)
            tries += 1

    def _wait(self, tries: int, busy: ModelBusy) -> float:
        backoff = _FIRST_WAIT * float(2 ** (tries - 1)) * (0.5 + self._chance())
        return max(backoff, busy.retry_after or 0.0)

    # ── one attempt, one line of the ledger ─────────────────────────────────────────────────────────

    async def _attempt(self, thought: _Thought, model: str, turns: tuple[Turn, ...], parse: Callable[[str], T]) -> T:
        timeout = self._timeout(thought, model)
        ask = Ask(
            model, turns, timeout, thought.max_tokens, thought.schema, channel=thought.call.channel, task=thought.task
        )
        completion, started = Completion(""), self._monotonic()
        outcome, reason = "error", "interrupted"
        try:
            completion = await self._door.complete(ask)
            answer = parse(_whole(completion, model))
            outcome, reason = "ok", ""
            return answer
        except AnswerRefused as refused:
            outcome, reason = "refused", str(refused)
            raise
        except ModelTimeout as late:
            outcome, reason = "timeout", str(late)
            raise
        except SidecarError as failed:
            outcome, reason = "error", str(failed)
            raise
        except anyio.get_cancelled_exc_class():
            outcome, reason = "timeout", "the caller gave up"
            raise
        finally:
            latency = self._monotonic() - started
            self._record(self._usage(thought, model, completion, latency, outcome, reason))

    def _timeout(self, thought: _Thought, model: str) -> float:
        left = self._left(thought)
        if left <= 0:
            raise ModelTimeout(f"No time was left to ask {model} within {thought.call.timeout:.0f} s.")
        return left if model == self._models[-1] else left * _SHARE_OF_TIME

    def _left(self, thought: _Thought) -> float:
        return thought.end - self._monotonic()

    def _usage(
        self, thought: _Thought, model: str, completion: Completion, latency: float, outcome: str, reason: str
    ) -> Usage:
        return Usage(
            time=self._wall().isoformat(timespec="seconds"),
            channel=thought.call.channel,
            task=thought.task,
            model=model,
            tokens_in=completion.tokens_in,
            tokens_out=completion.tokens_out,
            tokens_cached=completion.tokens_cached,
            cost=completion.cost,
            latency=round(latency, 3),
            outcome=outcome,
            correlation=thought.call.correlation,
            reason=reason[:_REASON_CHARS],
        )


def _whole(completion: Completion, model: str) -> str:
    """The text of an answer that came to its end."""
    match completion.finish_reason:
        case "length":
            raise AnswerRefused(f"{model} was cut off at the token limit; answer shorter.")
        case "content_filter":
            raise AnswerRefused(f"The provider's filter stopped {model}.")
        case _:
            return completion.text


def _spoken(text: str) -> str:
    if not text.strip():
        raise AnswerRefused("the reply is empty")
    return text
