"""One call over one text, in a process of its own: its seconds, and how long it held the loop."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from benchmarks.commands import complaint
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.journeys import CHANNEL, lived, runtime, silent
from benchmarks.faults.tree import Tree
from benchmarks.growth.calls import Call, Situation

Shape = Callable[[int], str]
# A text so short that what it costs is what the call costs anyway.
BASELINE = 100
_TICK = 0.001
# Less than this is the noise of a busy machine; a slope over it means nothing.
_LEAST_CPU = 0.004


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock and of CPU, and the most of CPU between two chances for other tasks."""

    size: int
    wall: float
    cpu: float
    held: float


@dataclass(slots=True)
class Growth:
    """A call over one shape, at each size that it came to within the bound."""

    call: str
    shape: str
    base: Took | None = None
    took: list[Took] = field(default_factory=list)
    # The size at which the bound ran out, and in which step; or what was raised.
    hung: str = ""
    wrong: str = ""
    refused: str = ""

    @property
    def wall(self) -> float:
        """Seconds at the largest size."""
        return math.inf if self.hung else max((each.wall for each in self.took), default=0.0)

    @property
    def held(self) -> float:
        """Seconds the loop was held at any size."""
        return max((each.held for each in self.took), default=0.0)

    @property
    def exponent(self) -> float | None:
        """The slope between the two largest sizes, less what any call costs; `None` in noise."""
        if self.base is None or len(self.took) < 2:
            return None
        smaller, larger = self.took[-2:]
        rest = [each.cpu - self.base.cpu for each in (smaller, larger)]
        if min(rest) < _LEAST_CPU:
            return None
        return math.log(rest[1] / rest[0]) / math.log(larger.size / smaller.size)


@dataclass(frozen=True, slots=True)
class Bench:
    """The workspace each call begins with, where it is laid, and the seconds one call may take."""

    tree: Tree
    root: Path
    bound: int

    def grown(self, growth: Growth, call: Call, text: Shape, sizes: list[int]) -> Growth:
        """Fills in each size from the smallest up; the first beyond the bound is the last."""
        for size in (BASELINE, *sizes):
            ended = self._ended(call, text(size))
            if ended.of("wrong") or ended.of("refused"):
                growth.wrong, growth.refused = (_last(ended, kind) for kind in ("wrong", "refused"))
                break
            if ended.how != "done":
                step = _last(ended, "began")
                growth.hung = f"{_bytes(size)}, {step}: {ended.how} after {self.bound} s"
                break
            took = Took(size, *(float(str(value)) for value in ended.of("took")[0]))
            if size == BASELINE:
                growth.base = took
            else:
                growth.took.append(took)
        return growth

    def _ended(self, call: Call, text: str) -> Ended:
        self.tree.laid(self.root)
        work = partial(_work, call, self.root, text, self.bound)
        return in_child(work, seconds=3 * self.bound)


def warmed(root: Path, calls: dict[str, Call]) -> Tree:
    """The workspace each call begins with; all that a process loads once is loaded here."""
    Tree((), ()).laid(root)
    lived(root)
    tree = Tree.of(root)
    for call in calls.values():
        tree.laid(root)
        anyio.run(_measured, call, root, "warm up", 60, silent)
    signal.alarm(0)
    return tree


def _last(ended: Ended, kind: str) -> str:
    return next((str(line[0]) for line in reversed(ended.of(kind))), "")


def _bytes(size: int) -> str:
    return f"{size // 1000} KB" if size >= 1000 else f"{size} B"


def _work(call: Call, root: Path, text: str, bound: int, say: Say) -> None:
    anyio.run(_measured, call, root, text, bound, say, True)


async def _measured(
    call: Call,
    root: Path,
    text: str,
    bound: int,
    say: Say,
    leaves: bool = False,
) -> None:
    """Where it `leaves`, nothing is closed: that is not asked for, and would take time."""
    async with runtime(root) as pipimem:
        situation = Situation(root, await pipimem.channel(CHANNEL), text)
        say("began", "before it")
        signal.alarm(bound)
        try:
            await call.before(situation)
            say("began", "the call")
            signal.alarm(bound)
            spent, held = await _timed(call, situation)
            say("took", *spent, 0.0 if call.is_command else held)
        except Exception as error:  # noqa: BLE001 - a refusal is an answer
            why = complaint(error)
            say("wrong" if why else "refused", why or str(error))
        if leaves:
            os._exit(0)


async def _timed(call: Call, situation: Situation) -> tuple[tuple[float, float], float]:
    """Seconds by the clock and of CPU, and the longest that the loop was held."""
    loop, error = _Loop(), None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loop.tick)
        await anyio.sleep(3 * _TICK)
        wall, cpu = time.perf_counter(), time.process_time()
        loop.worst = 0.0
        try:
            await call.act(situation)
        except Exception as reason:  # noqa: BLE001 - raised below, not in a group
            error = reason
        spent = time.perf_counter() - wall, time.process_time() - cpu
        await anyio.sleep(3 * _TICK)
        tasks.cancel_scope.cancel()
    if error is not None:
        raise error
    return spent, loop.worst


@dataclass(slots=True)
class _Loop:
    """A task that wants to run every millisecond, and notes how much its thread worked in between.

    By CPU time: what other processes of a busy machine take is not the call's fault.
    """

    worst: float = 0.0

    async def tick(self) -> None:
        """Until cancelled."""
        last = time.thread_time()
        while True:
            await anyio.sleep(_TICK)
            now = time.thread_time()
            self.worst, last = max(self.worst, now - last), now
