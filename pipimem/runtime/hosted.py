"""A sidecar of the host's own, held to the contract: whatever it raises or returns, memory can go on."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from pipimem.errors import AnswerRefused, SidecarError
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


@dataclass(frozen=True, slots=True)
class Hosted:
    """`Assistant` around another one: its errors become `SidecarError`, an answer of another type is refused."""

    inner: Assistant

    @property
    def name(self) -> str:
        """The inner one's."""
        return self.inner.name

    @property
    def paid(self) -> bool:
        """The inner one's."""
        return self.inner.paid

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:
        """What to keep."""
        return await _answered(self.inner.consolidate(task, call), Consolidated)

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:
        """What is going on now."""
        return await _answered(self.inner.refresh(task, call), Refreshed)

    async def tidy(self, task: Tidy, call: Call) -> Tidied:
        """What to merge, re-file or drop."""
        return await _answered(self.inner.tidy(task, call), Tidied)

    async def fold(self, task: Fold, call: Call) -> Folded:
        """One shorter block for a month."""
        return await _answered(self.inner.fold(task, call), Folded)

    async def rerank(self, task: Rerank, call: Call) -> Reranked:
        """What answers a question; an assistant made before there was such a task leaves the order as it is."""
        if not hasattr(self.inner, "rerank"):
            return Reranked(tuple(range(1, len(task.candidates) + 1)))
        return await _answered(self.inner.rerank(task, call), Reranked)


async def _answered(thought: Awaitable[T], kind: type[T]) -> T:
    try:
        answer = await thought
    except SidecarError:
        raise
    except Exception as error:
        raise SidecarError(f"the assistant failed with {type(error).__name__}: {error}") from error
    if not isinstance(answer, kind):
        raise AnswerRefused(f"the assistant answered with {type(answer).__name__} instead of {kind.__name__}")
    return answer
