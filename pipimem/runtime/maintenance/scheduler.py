"""The scheduler: one heap of due times for all channels, asleep until the next one."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf

import anyio
from anyio.abc import TaskGroup

# A channel that never falls quiet is due after so many seconds anyway: often enough that little
# waits, and seldom enough that model calls stay few.
LONGEST_WAIT = 600.0
# Seconds until cancelled work is tried again; sooner, the same burst of messages would cancel it.
RETRY_AFTER_CANCEL = 60.0
# Stale entries that the heap may hold before it is rebuilt; they may be due far in the future.
_MAX_STALE_ENTRIES = 1_000


async def _sleep(wake: anyio.Event, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await wake.wait()


@dataclass(slots=True)
class _Running:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class Scheduler:
    """Calls `work(name)` when `name` is due.

    The result is in how many seconds it is due again, `None` for never.

    At most `places` works run at a time, and one a name. Those who wait (`preempt`) count against
    `limit`: works beyond it are cancelled for them. `monotonic` gives seconds, `sleep` waits for an
    event or so many seconds.

    A new due time is one more place in the heap; older ones are found stale when they come up.
    Names come up in the order of their due times and new ones never lie in the past, so that one
    which is always due stands behind all that are due already.
    """

    work: Callable[[str], Awaitable[float | None]]
    monotonic: Callable[[], float]
    places: int = 1
    limit: int = 1_000
    sleep: Callable[[anyio.Event, float], Awaitable[None]] = _sleep
    _due: dict[str, float] = field(default_factory=dict)
    # When who was touched and not worked on since was touched first.
    _since: dict[str, float] = field(default_factory=dict)
    # Of equal times the one that was put first is first.
    _heap: list[tuple[float, int, str]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _running: dict[str, _Running] = field(default_factory=dict)
    _waiting: Counter[str] = field(default_factory=Counter)
    _wake: anyio.Event | None = None
    _until: float = -inf  # what it sleeps for; an earlier due time wakes it

    def touch(self, name: str, delay: float) -> None:
        """Make `name` due in `delay` seconds, however soon it was due before.

        It is due `LONGEST_WAIT` after the first touch at the latest.
        """
        now = self.monotonic()
        since = self._since.setdefault(name, now)
        longest_wait = max(LONGEST_WAIT, delay)
        latest = max(now, since + longest_wait)
        self._put(name, min(now + delay, latest))

    def expect(self, name: str, delay: float) -> None:
        """`name` is due in `delay` seconds, if it is not due sooner."""
        due = self.monotonic() + max(0.0, delay)
        if due < self._due.get(name, inf):
            self._put(name, due)

    def remove(self, name: str) -> None:
        """Drop the due time of `name`; work under way goes on to its end."""
        self._due.pop(name, None)
        self._since.pop(name, None)

    def is_running(self, name: str) -> bool:
        """Whether `name` is being worked on."""
        return name in self._running

    def is_pending(self, name: str) -> bool:
        """Whether `name` was touched since it was last worked on, or is due already."""
        return name in self._since or self._due.get(name, inf) <= self.monotonic()

    async def run(self) -> None:
        """Sleep and work until cancelled, and cancel every work then."""
        try:
            async with anyio.create_task_group() as tasks:
                await self._dispatch(tasks)
        finally:
            # A work that was cancelled before its first step could not say that it has ended.
            for running in self._running.values():
                running.ended.set()
            self._running.clear()

    async def _dispatch(self, tasks: TaskGroup) -> None:
        while True:
            self._wake, self._until = anyio.Event(), -inf
            while self._has_free_place():
                name = self._next()
                if name is None:
                    break
                self._running[name] = running = _Running()
                tasks.start_soon(self._run_work, name, running, name=f"idle work of {name}")
            pause = inf
            # With every place taken there is nothing to get up for but the end of a work.
            if self._has_free_place():
                self._until = self._heap[0][0] if self._heap else pause
                pause = max(0.0, self._until - self.monotonic())
            await self.sleep(self._wake, pause)

    @asynccontextmanager
    async def preempt(self, name: str) -> AsyncIterator[None]:
        """Cancel work on `name` while held, and works of others beyond the limit."""
        self._waiting[name] += 1
        try:
            running = self._running.get(name)
            if running is not None:
                running.scope.cancel()
                await running.ended.wait()
            beyond = len(self._running) - self._free_places()
            for running in list(reversed(self._running.values()))[: max(0, beyond)]:
                running.scope.cancel()
            yield
        finally:
            self._waiting[name] -= 1
            if not self._waiting[name]:
                del self._waiting[name]
                self._requeue(name)
            self._wake_up()

    async def _run_work(self, name: str, running: _Running) -> None:
        again: float | None = RETRY_AFTER_CANCEL
        try:
            with running.scope:
                again = await self.work(name)
        finally:
            del self._running[name]
            running.ended.set()
        if again is not None:
            self.expect(name, again)
        self._requeue(name)  # touched meanwhile
        self._wake_up()

    def _free_places(self) -> int:
        return min(self.places, self.limit - self._waiting.total())

    def _has_free_place(self) -> bool:
        return len(self._running) < self._free_places()

    def _put(self, name: str, due: float) -> None:
        self._due[name] = due
        heapq.heappush(self._heap, (due, next(self._numbers), name))
        if len(self._heap) > 2 * len(self._due) + _MAX_STALE_ENTRIES:
            self._heap = sorted(
                place for place in self._heap if self._due.get(place[2]) == place[0]
            )
        # What is due already does not wait for a sleep that was measured before the clock jumped.
        if due < self._until or due <= self.monotonic():
            self._wake_up()

    def _requeue(self, name: str) -> None:
        """Puts a name back that `_next` took off the heap while it was running or waited for."""
        if name in self._due:
            self._put(name, self._due[name])

    def _wake_up(self) -> None:
        if self._wake is not None:
            self._wake.set()

    def _next(self) -> str | None:
        """The name whose time has come, taken off the heap."""
        now = self.monotonic()
        while self._heap and self._heap[0][0] <= now:
            due, _, name = heapq.heappop(self._heap)
            if (
                self._due.get(name) == due
                and name not in self._running
                and name not in self._waiting
            ):
                self.remove(name)
                return name
        return None
