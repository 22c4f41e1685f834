"""The scheduler: one heap of due times for all channels, asleep until the next one."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

# DESIGN §8: the shortest interval between two thoughts of a channel. Who never falls quiet is due after it anyway.
LONGEST_WAIT = 600.0
# Work that somebody pushed aside comes again after this; sooner it would be pushed aside by the same rush.
AFTER_A_RUSH = 60.0
# Stale places in the heap, far in the future perhaps, before they are swept out.
_SLACK = 1_000


async def _asleep(wake: anyio.Event, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await wake.wait()


@dataclass(slots=True)
class _Turn:
    """When a name is due, since when it was touched without being worked on, and its valid place in the heap."""

    due: float
    since: float | None = None
    place: float | None = None


@dataclass(slots=True)
class _Running:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class Scheduler:
    """Calls `work(name)` when `name` is due; the answer is in how many seconds it is due again, `None` for never.

    At most `places` works run at a time, and one a name. Those who wait (`ahead`) count against `limit`: works beyond
    it are cancelled for them. `monotonic` gives seconds, `sleep` waits for an event or so many seconds.

    A busy name costs one dictionary look-up a touch: its place in the heap is found stale when it comes up and is put
    back at the new time. Names come up in the order of their due times and new ones never lie in the past, so that
    one which is always due stands behind all that are due already.
    """

    work: Callable[[str], Awaitable[float | None]]
    monotonic: Callable[[], float]
    places: int = 1
    limit: int = 1_000
    sleep: Callable[[anyio.Event, float], Awaitable[None]] = _asleep
    _turns: dict[str, _Turn] = field(default_factory=dict)
    _heap: list[tuple[float, int, str]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _running: dict[str, _Running] = field(default_factory=dict)
    _waiting: Counter[str] = field(default_factory=Counter)
    _wake: anyio.Event | None = None
    _until: float = float("-inf")  # what it sleeps for; an earlier due time wakes it

    def touch(self, name: str, delay: float) -> None:
        """Somebody is busy with `name`: it is due `delay` seconds from now, but at last `LONGEST_WAIT` after the first
        touch."""
        now = self.monotonic()
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = _Turn(now)
        turn.since = now if turn.since is None else turn.since
        turn.due = min(now + delay, max(now, turn.since + max(LONGEST_WAIT, delay)))
        self._put(name, turn)

    def expect(self, name: str, delay: float) -> None:
        """`name` is due in `delay` seconds, if it is not due sooner."""
        due = self.monotonic() + max(0.0, delay)
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = _Turn(due)
        turn.due = min(turn.due, due)
        self._put(name, turn)

    def forget(self, name: str) -> None:
        """`name` is no more; work under way goes on to its end."""
        self._turns.pop(name, None)

    def is_running(self, name: str) -> bool:
        """Whether `name` is being worked on."""
        return name in self._running

    def is_pending(self, name: str) -> bool:
        """Whether `name` was touched since it was last worked on, or is due already."""
        turn = self._turns.get(name)
        return turn is not None and (turn.since is not None or turn.due <= self.monotonic())

    async def run(self) -> None:
        """Sleep and work for ever; ends when cancelled, and every work with it."""
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
            self._wake, self._until = anyio.Event(), float("-inf")
            while self._has_room() and (name := self._next()) is not None:
                self._running[name] = running = _Running()
                tasks.start_soon(self._worked, name, running, name=f"idle work of {name}")
            pause = float("inf")
            # With every place taken there is nothing to get up for but the end of a work.
            if self._has_room():
                self._until = self._heap[0][0] if self._heap else pause
                pause = max(0.0, self._until - self.monotonic())
            await self.sleep(self._wake, pause)

    @asynccontextmanager
    async def ahead(self, name: str) -> AsyncIterator[None]:
        """Somebody waits for `name`: work on it is cancelled at once and comes again later; works of others make room."""
        self._waiting[name] += 1
        try:
            if running := self._running.get(name):
                running.scope.cancel()
                await running.ended.wait()
            beyond = len(self._running) - self._room()
            for running in list(reversed(self._running.values()))[: max(0, beyond)]:
                running.scope.cancel()
            yield
        finally:
            self._waiting[name] -= 1
            if not self._waiting[name]:
                del self._waiting[name]
                if turn := self._turns.get(name):
                    self._put(name, turn)
            self._get_up()

    async def _worked(self, name: str, running: _Running) -> None:
        again: float | None = AFTER_A_RUSH
        try:
            with running.scope:
                again = await self.work(name)
        finally:
            del self._running[name]
            running.ended.set()
        turn = self._turns.get(name)
        if again is not None:
            self.expect(name, again)
        elif turn is not None:  # touched meanwhile
            self._put(name, turn)
        self._get_up()

    def _room(self) -> int:
        return min(self.places, self.limit - self._waiting.total())

    def _has_room(self) -> bool:
        return len(self._running) < self._room()

    def _put(self, name: str, turn: _Turn) -> None:
        """Sees to a place in the heap that is not later than the due time; who is busy gets it afterwards."""
        if name in self._running or name in self._waiting:
            return
        if turn.place is None or turn.due < turn.place:
            turn.place = turn.due
            heapq.heappush(self._heap, (turn.due, next(self._numbers), name))
            if len(self._heap) > 2 * len(self._turns) + _SLACK:
                self._sweep()
            if turn.due < self._until:
                self._get_up()

    def _sweep(self) -> None:
        places = [
            (place, number, name)
            for place, number, name in self._heap
            if self._is_valid(place, name)
        ]
        heapq.heapify(places)
        self._heap = places

    def _is_valid(self, place: float, name: str) -> bool:
        turn = self._turns.get(name)
        return turn is not None and turn.place == place

    def _get_up(self) -> None:
        if self._wake is not None:
            self._wake.set()

    def _next(self) -> str | None:
        """The name whose time has come, taken off the heap; stale places are mended on the way."""
        now = self.monotonic()
        while self._heap and self._heap[0][0] <= now:
            place, _, name = heapq.heappop(self._heap)
            if not self._is_valid(place, name):
                continue  # an earlier place was added, or the name is no more
            turn = self._turns[name]
            turn.place = None
            if name in self._waiting:
                continue  # put back when nobody waits any more
            if turn.due <= now:
                del self._turns[name]
                return name
            self._put(name, turn)
        return None
