"""A sidecar that answers as it is told: the public double for tests of hosts and of pipimem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from pipimem.errors import ModelUnavailable
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

Task = Consolidate | Refresh | Tidy | Fold | Rerank
Answered = Consolidated | Refreshed | Tidied | Folded | Reranked
Answer = Answered | str | BaseException
Kind = TypeVar("Kind", Consolidated, Refreshed, Tidied, Folded, Reranked)


@dataclass(slots=True)
class Scripted:
    """`Assistant` with its answers handed in.

    `answers` is a queue that serves every task, in order, or a queue by task (`consolidate`, `refresh`, `tidy`,
    `fold`, `rerank`). An answer is a value, a string (parsed as strictly as a model's text) or an exception to raise. An empty
    queue raises `ModelUnavailable`. `asked` holds every task so far, with its call in `calls`.
    """

    answers: Iterable[Answer] | Mapping[str, Iterable[Answer]] = ()
    paid: bool = False
    name: str = "scripted"
    asked: list[Task] = field(default_factory=list, init=False)
    calls: list[Call] = field(default_factory=list, init=False)
    _by_task: dict[str, list[Answer]] = field(default_factory=dict, init=False, repr=False)
    _queue: list[Answer] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.answers, Mapping):
            self._by_task = {task: list(answers) for task, answers in self.answers.items()}
        else:
            self._queue = list(self.answers)

    def then(self, task: str, *answers: Answer) -> None:
        """More answers for one task, after those it has."""
        self._by_task.setdefault(task, []).extend(answers)

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:
        """The next answer."""
        return self._next(task, call, "consolidate", Consolidated)

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:
        """The next answer."""
        return self._next(task, call, "refresh", Refreshed)

    async def tidy(self, task: Tidy, call: Call) -> Tidied:
        """The next answer."""
        return self._next(task, call, "tidy", Tidied)

    async def fold(self, task: Fold, call: Call) -> Folded:
        """The next answer."""
        return self._next(task, call, "fold", Folded)

    async def rerank(self, task: Rerank, call: Call) -> Reranked:
        """The next answer."""
        return self._next(task, call, "rerank", Reranked)

    def _next(self, task: Task, call: Call, name: str, kind: type[Kind]) -> Kind:
        self.asked.append(task)
        self.calls.append(call)
        queue = self._by_task.get(name, []) if isinstance(self.answers, Mapping) else self._queue
        if not queue:
            raise ModelUnavailable(f"The scripted sidecar has no answer left for {name}; give it one more.")
        answer = queue.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        value = parsed(answer, task) if isinstance(answer, str) else answer
        if not isinstance(value, kind):
            raise TypeError(f"the next scripted answer is a {type(value).__name__}, but {name} wants {kind.__name__}")
        return value


def parsed(answer: str, task: Task) -> Answered:
    """A model's text as the answer to a task; raises `AnswerRefused`."""
    # The wire needs msgspec; a test that scripts values never does.
    from pipimem.sidecar.wire import consolidation, folding, refreshing, reranking, tidying

    match task:
        case Consolidate():
            return consolidation.parsed(answer, task)
        case Refresh():
            return refreshing.parsed(answer)
        case Tidy():
            return tidying.parsed(answer, task)
        case Fold():
            return folding.parsed(answer, task)
        case Rerank():
            return reranking.parsed(answer, task)
        case _:
            assert_never(task)
