"""The sidecar that asks models: a method a task, its prompt and schema out, its answer parsed strictly or refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.errors import AnswerRefused
from pipimem.notes.message import Message
from pipimem.notes.usage import Usage
from pipimem.sidecar import rendering
from pipimem.sidecar.asking import Asking, Question
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
from pipimem.sidecar.door import Door, Schema, Turn
from pipimem.sidecar.litellm_door import LiteLLM
from pipimem.sidecar.prompts import Prompts
from pipimem.sidecar.wire import consolidation, folding, refreshing, reranking, tidying

# Room for the longest answer the schema allows, and for a model that thinks before it answers.
_CONSOLIDATE_TOKENS = 8000
_REFRESH_TOKENS = 4000
_TIDY_TOKENS = 6000
_FOLD_TOKENS = 4000
_RERANK_TOKENS = 300
_CHAT_TOKENS = 4000


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
        self._prompts = Prompts(prompts)
        self._asking = Asking(
            models,
            door or LiteLLM(),
            record=record,
            wall=wall,
            monotonic=monotonic,
            concurrency=concurrency,
            chance=chance,
        )

    @property
    def name(self) -> str:
        """The first model's name."""
        return self._asking.models[0]

    @property
    def paid(self) -> bool:
        """A thought may cost something."""
        return True

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:
        """What to keep; raises `SidecarError` when no model gave an acceptable answer, as do the others."""
        values = rendering.consolidate_values(task, call.channel)
        question = self._question(
            "consolidate", values, call, consolidation.schema(task), _CONSOLIDATE_TOKENS, task.window
        )
        return await self._asking.answered(question, lambda text: consolidation.parsed(text, task))

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:
        """What is going on now."""
        values = rendering.refresh_values(task)
        question = self._question("refresh", values, call, refreshing.SCHEMA, _REFRESH_TOKENS, task.window)
        return await self._asking.answered(question, refreshing.parsed)

    async def tidy(self, task: Tidy, call: Call) -> Tidied:
        """What to merge, re-file or drop."""
        question = self._question("tidy", rendering.tidy_values(task), call, tidying.schema(task), _TIDY_TOKENS)
        return await self._asking.answered(question, lambda text: tidying.parsed(text, task))

    async def fold(self, task: Fold, call: Call) -> Folded:
        """One shorter block for a month."""
        question = self._question("fold", rendering.fold_values(task), call, folding.schema(task), _FOLD_TOKENS)
        return await self._asking.answered(question, lambda text: folding.parsed(text, task))

    async def rerank(self, task: Rerank, call: Call) -> Reranked:
        """Which candidates answer a question."""
        question = self._question("rerank", rendering.rerank_values(task), call, reranking.SCHEMA, _RERANK_TOKENS)
        return await self._asking.answered(question, lambda text: reranking.parsed(text, task))

    async def chat(self, messages: Sequence[Message], call: Call) -> str:
        """A bot's reply to a conversation, in the ledger as `chat`; tool messages count as the user's."""
        turns = tuple(
            Turn(message.role if message.role in {"system", "assistant"} else "user", message.content)
            for message in messages
        )
        question = Question("chat", call, turns, None, _CHAT_TOKENS)
        return await self._asking.answered(question, _spoken)

    def _question(
        self,
        task: str,
        values: dict[str, str],
        call: Call,
        schema: Schema,
        max_tokens: int,
        window: Sequence[Message] = (),
    ) -> Question:
        """A task in the words of its prompt. Talk of several messages can be thought about in smaller windows."""
        system, user = self._prompts.rendered(task, values)
        turns = (Turn("system", system), Turn("user", user))
        return Question(task, call, turns, schema, max_tokens, shrinks=len(window) > 1)


def _spoken(text: str) -> str:
    if not text.strip():
        raise AnswerRefused("the reply is empty")
    return text
