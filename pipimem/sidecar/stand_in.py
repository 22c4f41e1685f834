"""The assistant that stands in: the model thinks while the budget lasts, the embedded rules when it is spent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pipimem.errors import BudgetSpent
from pipimem.sidecar.contracts import (
    Assistant,
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

T = TypeVar("T")


@dataclass(slots=True)
class StandIn:
    """`Assistant` of one channel: `model`, or `rules` for a thought that no budget holds; other errors are the model's.

    A channel thinks one thought at a time, so `name` is of whichever of the two thought last: what is committed then
    stands under it in the journal.
    """

    model: Assistant
    rules: Assistant
    _last: Assistant | None = field(default=None)

    @property
    def name(self) -> str:
        """Of the one that thought last."""
        return (self._last or self.model).name

    @property
    def paid(self) -> bool:
        """The model's."""
        return self.model.paid

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:
        """What to keep."""
        return await self._thought(lambda assistant: assistant.consolidate(task, call))

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:
        """What is going on now."""
        return await self._thought(lambda assistant: assistant.refresh(task, call))

    async def tidy(self, task: Tidy, call: Call) -> Tidied:
        """What to merge, re-file or drop."""
        return await self._thought(lambda assistant: assistant.tidy(task, call))

    async def fold(self, task: Fold, call: Call) -> Folded:
        """One shorter block for a month."""
        return await self._thought(lambda assistant: assistant.fold(task, call))

    async def rerank(self, task: Rerank, call: Call) -> Reranked:
        """The model's alone: it may run beside a thought, commits nothing, and the local order is there without it."""
        return await self.model.rerank(task, call)

    async def _thought(self, think: Callable[[Assistant], Awaitable[T]]) -> T:
        self._last = self.model
        try:
            return await think(self.model)
        except BudgetSpent:
            self._last = self.rules
            return await think(self.rules)
