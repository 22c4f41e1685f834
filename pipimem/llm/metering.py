"""One attempt at a request: however it ends, one line of the usage ledger says what it cost.

The cost is what the provider reports, else the most it can have been.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Self

import anyio
from anyio import to_thread
from msgspec.structs import replace

from pipimem.clock import Clock
from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.llm.failures import causes
from pipimem.llm.request import (
    Completion,
    ContextOverflow,
    KeyRefused,
    ModelBusy,
    ModelRequest,
    NeverSent,
    ParameterRefused,
    Price,
)
from pipimem.notes.usage import Reservation, Usage
from pipimem.observer import Observation, Observers
from pipimem.text.secrets import redacted
from pipimem.text.token_count import estimate

# More than any bill has; the ledger takes no larger number.
_MOST_TOKENS = 10**12
_REASON_CHARS = 200
# By name, so that httpx need not be imported: the server answered with an error status, or was
# never reached. Anything else (a broken or unreadable answer, a timeout) may be on the bill.
_NOT_SERVED = frozenset({"HTTPStatusError", "ConnectError", "ConnectTimeout", "PoolTimeout"})


@dataclass(slots=True)
class Attempt:
    """An admitted request. Inside the context send `request`, and set `completion` to its answer.

    On leaving, `record` is called once with the line of the ledger, or with `None` where the
    request never left. It may raise `StoreError`, and
    it may wait for the disk and for other processes: `async with` calls it in a worker thread,
    `with` (for callers in threads of their own) directly.
    """

    request: ModelRequest
    reservation: Reservation
    price: Price | None
    clock: Clock
    record: Callable[[Usage | None], None]
    observers: Observers = field(default_factory=Observers)
    completion: Completion | None = None
    _began: float = field(init=False)
    _observation: Observation = field(init=False)
    # Acquired by whoever records the line, and never released.
    _recorded: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._began = self.clock.monotonic()
        self._observation = self.observers.of(
            "model",
            self.request.channel,
            task=self.request.task,
            model=self.request.model,
            correlation=self.request.correlation,
        )

    def __enter__(self) -> Self:
        self._observation.__enter__().max_tokens = self.request.max_tokens
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._record_once(self._observed_line(error))

    async def __aenter__(self) -> Self:
        return self.__enter__()  # at once: whoever is cancelled here could not record it

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        line = self._observed_line(error)
        try:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._record_once, line)
        finally:
            # A cancel of asyncio itself heeds no shield, and may come before the thread began.
            self._record_once(line)

    def _observed_line(self, error: BaseException | None) -> Usage | None:
        """The line of the ledger; who observes the attempt is told of it."""
        line, operation = self._line(error), self._observation.operation
        operation.outcome = "unsent" if line is None else line.outcome
        if line is not None:
            operation.tokens_in = line.tokens_in + line.estimated_in
            operation.tokens_out = line.tokens_out + line.estimated_out
            operation.tokens_cached, operation.cost = line.tokens_cached, line.cost
        self._observation.__exit__(type(error) if error else None, error, None)
        return line

    def _record_once(self, line: Usage | None) -> None:
        if self._recorded.acquire(blocking=False):
            self.record(line)

    def _line(self, error: BaseException | None) -> Usage | None:
        """The line of the ledger for an attempt that ends now, with `error` or without.

        `None` for a request that never left.
        Each count that the provider did not report is estimated. All that was reserved counts where
        no answer came and the request may have been served.
        """
        if isinstance(error, NeverSent):
            return None
        latency = round(self.clock.monotonic() - self._began, 3)
        outcome, reason = _outcome(error, self.completion)
        usage = _free(self.reservation, self.clock.wall(), outcome, reason, latency)
        if self.completion is not None:
            return _billed(usage, self.reservation, self.price, self.completion)
        if error is not None and _is_free(error):
            return usage
        return _fully_estimated(usage, self.reservation)


# Admits a request, with `max_tokens` cut to what the budgets leave. Raises `BudgetSpent`,
# `NoProgress`, `ModelUnavailable`, `ModelTimeout` or `StoreError` before anything is sent, and then
# nothing is recorded.
Admit = Callable[[ModelRequest], Awaitable[Attempt]]


def abandoned(reservation: Reservation, now: datetime) -> Usage:
    """The line for a request whose process died: all that was reserved counts as used."""
    reason = f"asked at {reservation.time} by a process that ended before the answer came"
    return _fully_estimated(_free(reservation, now, "cancelled", reason), reservation)


def _free(
    reservation: Reservation, now: datetime, outcome: str, reason: str, latency: float = 0.0
) -> Usage:
    """The line of an attempt that cost nothing."""
    return Usage(
        time=now.isoformat(timespec="seconds"),
        channel=reservation.channel,
        task=reservation.task,
        model=reservation.model,
        tokens_in=0,
        tokens_out=0,
        tokens_cached=0,
        cost=None,
        latency=latency,
        outcome=outcome,
        correlation=reservation.correlation,
        reason=reason,
        prompt=reservation.prompt,
    )


def _fully_estimated(usage: Usage, reservation: Reservation) -> Usage:
    return replace(
        usage,
        estimated_in=reservation.tokens_in,
        estimated_out=reservation.tokens_out,
        estimated_cost=reservation.cost,
    )


def _billed(
    usage: Usage, reservation: Reservation, price: Price | None, completion: Completion
) -> Usage:
    """The line with the counts of an answer; a missing one is estimated, and the cost with it."""
    tokens_in, tokens_out = _count(completion.tokens_in), _count(completion.tokens_out)
    estimated_in = 0 if tokens_in else reservation.tokens_in
    estimated_out = 0 if tokens_out else estimate(completion.text)
    cost, estimated_cost = None, None
    if not estimated_in and not estimated_out:
        cost = _dollars(completion.cost)
    if cost is None and price:
        estimated_cost = price.cost(tokens_in + estimated_in, tokens_out + estimated_out)
    return replace(
        usage,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=min(_count(completion.tokens_cached), tokens_in),
        cost=cost,
        estimated_in=estimated_in,
        estimated_out=estimated_out,
        estimated_cost=estimated_cost,
    )


def _outcome(error: BaseException | None, completion: Completion | None) -> tuple[str, str]:
    """The outcome of an attempt, and the reason in our own words."""
    match error:
        case None:
            return "ok", ""
        case AnswerRefused() if completion is not None and completion.finish_reason == "length":
            return "refused", "the answer was cut off at the token limit"
        case AnswerRefused():
            # Why may quote the answer: it is told where a forgetting looks, in the channel's log.
            return "refused", "the answer was not accepted"
        case ModelTimeout():
            outcome = "timeout"
        case KeyRefused():
            outcome = "denied"
        case ContextOverflow() | ParameterRefused():
            outcome = "unfit"
        case SidecarError():
            outcome = "error"
        case Exception():
            return "error", "interrupted"
        case _:
            return "cancelled", "the caller gave up"
    return outcome, redacted(error.sentence)[:_REASON_CHARS]


def _is_free(error: BaseException) -> bool:
    """Whether the provider refused the request or never had it; all else may have been billed."""
    if not isinstance(error, ModelUnavailable):
        return False
    # What is no `ModelBusy` was refused explicitly: the key, the model's name, the request itself.
    if not isinstance(error, ModelBusy):
        return True
    return any(type(cause).__name__ in _NOT_SERVED for cause in causes(error))


def _count(tokens: int) -> int:
    """A server's number as one that sums can take: a negative one would give budget back."""
    return min(max(0, int(tokens)), _MOST_TOKENS)


def _dollars(cost: float | None) -> float | None:
    if cost is None or not math.isfinite(cost) or cost < 0:
        return None
    return cost
