"""Who is told of each operation: a turn, a recall, a gate, a job, a commit, a call of a model.

An `Operation` holds names, counts and times; texts only where an observer asks for them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol

from pipimem.errors import ArgumentError

# What hosts use; the rest is the runtime's.
__all__ = ["Observer", "Operation"]

OperationKind = Literal[
    "turn", "store_turn", "recall", "search", "compaction", "forget", "job", "commit", "model"
]

# The correlation id of the model call that this task or thread works on: log lines are written far
# from where it is known, and nothing else follows a call through tasks and threads.
_correlation: ContextVar[str] = ContextVar("pipimem_correlation", default="")

_log = logging.getLogger("pipimem")


@dataclass(slots=True)
class Operation:
    """One operation; what came of it is known when it has ended.

    `task` is the job's name, or what a commit or a model's call is for; `correlation` is that of
    the usage ledger and the changes. `outcome` is `ok`, `error` (raised, `error` is the class),
    `cancelled`, or a word of the kind's own: `silent` for a turn whose memory is broken, a
    `Receipt`'s state for a compaction, `failed` for a job, a ledger line's for a model's call.
    `records` counts entries found or changed. `cost` is in US dollars, `None` where it is unknown.
    `seconds` is how long it took. `text` and `texts` (the question, the entries found) are empty
    unless an observer `wants_content`, and then without secrets and private stretches.
    """

    kind: OperationKind
    channel: str = ""
    task: str = ""
    model: str = ""
    correlation: str = ""
    outcome: str = "ok"
    error: str = ""
    records: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    max_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    text: str = field(default="", repr=False)
    texts: tuple[str, ...] = field(default=(), repr=False)


class Observer(Protocol):
    """Told of operations as they begin and end, on the event loop or in a thread: it must not wait.

    What it raises is logged, and it is told no more.
    """

    @property
    def wants_content(self) -> bool:
        """Whether `Operation.text` and `.texts` are to be filled."""

    def begin(self, operation: Operation) -> object:
        """An operation begins; what is returned is given to `end`."""

    def end(self, operation: Operation, begun: object) -> None:
        """The operation has ended, in the same task or thread."""


class Observers:
    """The observers of one workspace; false without any, so that nothing needs to be told."""

    __slots__ = ("_all", "wants_content")

    def __init__(self, *observers: Observer) -> None:
        self._all: tuple[Observer, ...] = ()
        self.wants_content = False
        for observer in observers:
            self.add(observer)

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, observer: Observer) -> None:
        """Have one more told, from the next operation on.

        Raises `ArgumentError` for what cannot be told.
        """
        for name in ("begin", "end"):
            if not callable(getattr(observer, name, None)):
                raise ArgumentError(
                    f"observer must have the methods begin and end, as pipimem.Observer; "
                    f"{observer!r} has no {name}."
                )
        if not hasattr(observer, "wants_content"):
            raise ArgumentError(
                f"observer must say wants_content, as pipimem.Observer; {observer!r} does not."
            )
        self._all = (*self._all, observer)
        self.wants_content = self.wants_content or observer.wants_content

    def of(
        self,
        kind: OperationKind,
        channel: str,
        *,
        task: str = "",
        model: str = "",
        correlation: str = "",
    ) -> Observation:
        """The observation of an operation that begins where it is entered."""
        return Observation(self, Operation(kind, channel, task, model, correlation))

    def begin(self, operation: Operation) -> list[tuple[Observer, object]]:
        """Tell all of a beginning; what each of them wants back at the end."""
        begun: list[tuple[Observer, object]] = []
        for observer in self._all:
            with self._drop_if_it_raises(observer):
                begun.append((observer, observer.begin(operation)))
        return begun

    def end(self, operation: Operation, begun: list[tuple[Observer, object]]) -> None:
        """Tell those who heard of the beginning of the end, the last one first."""
        for observer, given in reversed(begun):
            with self._drop_if_it_raises(observer):
                observer.end(operation, given)

    @contextmanager
    def _drop_if_it_raises(self, observer: Observer) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - who watches must not break what it watches
            self._drop(observer, error)

    def _drop(self, observer: Observer, error: Exception) -> None:
        self._all = tuple(each for each in self._all if each is not observer)
        # Its class, not its words: they may quote what it was told.
        _log.error(
            "%s is told no more of operations: it raised %s",
            type(observer).__name__,
            type(error).__name__,
        )


class Observation:
    """One operation from its beginning to its end; `with` gives the `Operation` to fill in."""

    __slots__ = ("_began", "_begun", "_observers", "_token", "operation")

    def __init__(self, observers: Observers, operation: Operation) -> None:
        self._observers, self.operation = observers, operation

    def __enter__(self) -> Operation:
        operation, inherited = self.operation, _correlation.get()
        if not operation.correlation:
            operation.correlation = inherited
        self._token = _correlation.set(operation.correlation)
        self._begun = self._observers.begin(operation) if self._observers else []
        self._began = time.perf_counter()
        return operation

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        operation = self.operation
        operation.seconds = time.perf_counter() - self._began
        if error is not None:
            _note_error(operation, error)
        if not operation.correlation:
            operation.correlation = _correlation.get()
        self._observers.end(operation, self._begun)
        _correlation.reset(self._token)


def _note_error(operation: Operation, error: BaseException) -> None:
    """The class of what an operation raised; its words may quote a message.

    What gave its operation a word of its own already, such as the ledger, keeps that.
    """
    operation.error = operation.error or type(error).__name__
    if operation.outcome == "ok":
        operation.outcome = "error" if isinstance(error, Exception) else "cancelled"


def correlation() -> str:
    """The correlation id of what this task or thread works on; empty where there is none."""
    return _correlation.get()


def correlate(name: str) -> None:
    """What this task does from here on belongs to the correlation id, to the end of its scope."""
    _correlation.set(name)


class CorrelationScope:
    """`with` it, a correlation id that is set inside ends with it."""

    __slots__ = ("_token",)

    _token: Token[str]

    def __enter__(self) -> None:
        self._token = _correlation.set(_correlation.get())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _correlation.reset(self._token)
