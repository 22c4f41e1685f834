"""The scheduler: one heap of due times for all channels, asleep until the next one."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio


@dataclass(slots=True)
class Scheduler:
    """Calls `work(name)` once `name` has been quiet for its delay; a touch only moves the due time (DESIGN §8).

    `monotonic` gives seconds. A busy channel costs one dictionary write a turn: its old place in the heap is found
    stale when it comes up and is put back at the new time.
    """

    work: Callable[[str], Awaitable[None]]
    monotonic: Callable[[], float]
    _due: dict[str, float] = field(default_factory=dict)
    _heap: list[tuple[float, str]] = field(default_factory=list)
    _wake: anyio.Event | None = None

    def touch(self, name: str, delay: float) -> None:
        """Work on `name` is due `delay` seconds from now, whatever was due before."""
        due = self.monotonic() + delay
        known = name in self._due
        earlier = known and due < self._due[name]
        self._due[name] = due
        if not known or earlier:
            heapq.heappush(self._heap, (due, name))
            if self._wake and self._heap[0][1] == name:
                self._wake.set()

    async def run(self) -> None:
        """Sleep and work for ever; ends when cancelled."""
        while True:
            self._wake = anyio.Event()
            if (name := self._next()) is not None:
                await self.work(name)
                continue
            with anyio.move_on_after(self._pause()):
                await self._wake.wait()

    def _next(self) -> str | None:
        """The channel whose time has come, taken off the heap; stale places are mended on the way."""
        now = self.monotonic()
        while self._heap and self._heap[0][0] <= now:
            _, name = heapq.heappop(self._heap)
            due = self._due.get(name)
            if due is not None and due <= now:
                del self._due[name]
                return name
            if due is not None:
                heapq.heappush(self._heap, (due, name))
        return None

    def _pause(self) -> float:
        return max(0.0, self._heap[0][0] - self.monotonic()) if self._heap else float("inf")
