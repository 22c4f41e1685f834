"""One attempt at a model as a context: let out by the budget, and a line of the usage ledger however it ends."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.notes.usage import Hold, Usage
from pipimem.sidecar.billing import billed
from pipimem.sidecar.door import Ask, Completion, Price


@dataclass(slots=True)
class Attempt:
    """A request that was let out. While the context lasts `ask` is sent, and `completion` set when its answer came.

    On leaving `record` is given the line of the ledger; it may raise `StoreError`, and it may wait
    for the disk and for other processes: on an event loop it has a thread, in a thread the context
    is a plain one.
    """

    ask: Ask
    hold: Hold
    price: Price | None
    clock: Clock
    record: Callable[[Usage], None]
    completion: Completion | None = None
    _began: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_recorded: bool = False

    def __post_init__(self) -> None:
        self._began = self.clock.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._record_once(self._line(error))

    async def __aenter__(self) -> Self:
        return self  # at once: whoever is cancelled here could not record it

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        line = self._line(error)
        try:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._record_once, line)
        except BaseException:
            # A cancel of asyncio itself heeds no shield, and may come before the thread began.
            self._record_once(line)
            raise

    def _record_once(self, line: Usage) -> None:
        with self._lock:
            if self._is_recorded:
                return
            self._is_recorded = True
        self.record(line)

    def _line(self, error: BaseException | None) -> Usage:
        latency = self.clock.monotonic() - self._began
        return billed(self.hold, self.price, self.completion, error, self.clock.wall(), latency)


# Lets a request out, with `max_tokens` cut to what the budgets hold. Raises `BudgetSpent`, `NoProgress`,
# `ModelUnavailable`, `ModelTimeout` or `StoreError` before anything is sent, and then nothing is recorded.
Begin = Callable[[Ask], Awaitable[Attempt]]
