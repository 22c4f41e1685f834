"""The scheduler: due times for many channels, one heap."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.lowlevel import checkpoint
from pipimem.runtime.maintenance.scheduler import LONGEST_WAIT, RETRY_AFTER_CANCEL, Scheduler

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]

YEAR = 365 * 24 * 3600.0


async def until(true: Callable[[], bool]) -> None:
    """Wait for it, however busy the machine is."""
    with anyio.fail_after(90):
        while not true():
            await anyio.sleep(0.005)


@dataclass
class Hours:
    """A clock that jumps to the end of every sleep, and counts the sleeps; it stops at `end`."""

    end: float = YEAR
    now: float = 0.0
    wakings: int = 0
    over: anyio.Event = field(default_factory=anyio.Event)

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, wake: anyio.Event, seconds: float) -> None:
        for _ in range(5):  # whatever is under way goes on first
            await checkpoint()
        self.wakings += 1
        if wake.is_set():
            return
        if self.now + seconds > self.end:
            self.over.set()
            await wake.wait()
        else:
            self.now += seconds


@asynccontextmanager
async def running(scheduler: Scheduler) -> AsyncIterator[None]:
    """The scheduler at work, cancelled at the end."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scheduler.run)
        yield
        tasks.cancel_scope.cancel()


def noting(done: list[str]) -> Callable[[str], Awaitable[float | None]]:
    async def work(name: str) -> None:
        done.append(name)

    return work


@pytest.mark.slow
async def test_quiet_channels_are_worked_on_in_the_order_they_became_quiet() -> None:
    """A touch moves a channel back; the others do not wait for it."""
    done: list[str] = []
    scheduler = Scheduler(noting(done), anyio.current_time)
    async with running(scheduler):
        scheduler.touch("a", 0.02)
        scheduler.touch("b", 0.03)
        scheduler.touch("a", 1.0)
        await until(lambda: bool(done))
        assert done == ["b"]
        await until(lambda: len(done) == 2)
    assert done == ["b", "a"]


async def test_an_earlier_time_wakes_the_sleeper() -> None:
    """Who sleeps until later is woken for what is due sooner."""
    done: list[str] = []
    scheduler = Scheduler(noting(done), anyio.current_time)
    async with running(scheduler):
        scheduler.touch("late", 60)
        await anyio.sleep(0.01)
        scheduler.touch("soon", 0.01)
        await until(lambda: bool(done))
    assert done == ["soon"]


async def test_what_is_due_at_once_wakes_the_sleeper_after_a_jump_of_the_clock() -> None:
    """The machine slept through the due time: whoever is touched now does not wait for it."""
    done: list[str] = []
    seconds = [0.0]
    scheduler = Scheduler(noting(done), lambda: seconds[0])
    async with running(scheduler):
        scheduler.expect("room", 600)
        await anyio.sleep(0.01)
        seconds[0] = 600.0
        scheduler.touch("room", 0)
        await until(lambda: bool(done))
    assert done == ["room"]


async def test_it_wakes_for_what_is_due_and_for_nothing_else() -> None:
    """A year with a thousand due times: two sleeps each, one until the time and one until the
    work has ended.
    """
    hours, done = Hours(), list[str]()
    scheduler = Scheduler(noting(done), hours.monotonic, sleep=hours.sleep)
    for day in range(1_000):
        scheduler.expect(f"c{day}", day * YEAR / 1_000)
    async with running(scheduler):
        await hours.over.wait()
    assert len(done) == 1_000
    assert hours.wakings <= 2_001


async def test_a_touch_that_puts_off_wakes_nobody() -> None:
    """A busy channel costs a look-up a turn; the sleeper finds out when it gets up."""
    slept, hours = list[float](), Hours()

    async def sleep(wake: anyio.Event, seconds: float) -> None:
        slept.append(seconds)
        await wake.wait()

    scheduler = Scheduler(noting([]), hours.monotonic, sleep=sleep)
    async with running(scheduler):
        scheduler.touch("busy", 60)
        await until(lambda: slept == [60.0])
        for _ in range(30):
            hours.now += 1
            scheduler.touch("busy", 60)
            scheduler.touch("later", 90)
            await checkpoint()
        assert slept == [60.0]


async def test_a_channel_that_is_always_due_starves_nobody() -> None:
    """Three that are due again at once, and a hundred that come once: all hundred had their
    turn, the three as often.
    """
    hours, done = Hours(end=1.0), Counter[str]()

    async def work(name: str) -> float | None:
        done[name] += 1
        hours.now += 0.001
        return 0.0 if name.startswith("always") else None

    scheduler = Scheduler(work, hours.monotonic, sleep=hours.sleep)
    for name in ("always 1", "always 2", "always 3"):
        scheduler.expect(name, 0.0)
    for number in range(100):
        scheduler.expect(f"once {number}", 0.005 * number)
    async with running(scheduler):
        await until(lambda: done.total() > 900)
    often = [done[f"always {n}"] for n in (1, 2, 3)]
    assert sum(1 for name in done if name.startswith("once")) == 100
    assert max(often) - min(often) <= 1


async def test_so_many_at_a_time_and_one_of_each_channel() -> None:
    """Two places for twenty channels that are touched while they are worked on."""
    most, now, twice = 0, Counter[str](), False

    async def work(name: str) -> float | None:
        nonlocal most, twice
        now[name] += 1
        most, twice = max(most, now.total()), twice or now[name] > 1
        scheduler.touch(name, 0.01)
        try:
            await anyio.sleep(0.005)
        finally:  # one that is cancelled at the end makes room, too
            now[name] -= 1
        seen[name] += 1
        return None

    seen = Counter[str]()
    scheduler = Scheduler(work, anyio.current_time, places=2)
    for number in range(20):
        scheduler.expect(f"c{number}", 0.0)
    async with running(scheduler):
        await until(lambda: len(seen) == 20 and min(seen.values()) > 1)
    assert (most, twice) == (2, False)


async def test_a_channel_touched_while_it_is_worked_on_is_due_again_afterwards() -> None:
    """And by the touch, not by what the work asks for later."""
    hours, times = Hours(end=10_000), list[float]()

    async def work(name: str) -> float | None:
        times.append(hours.now)
        if len(times) == 1:
            scheduler.touch(name, 60)
            return 1_200.0
        return None

    scheduler = Scheduler(work, hours.monotonic, sleep=hours.sleep)
    scheduler.expect("room", 5.0)
    async with running(scheduler):
        await hours.over.wait()
    assert times == [5.0, 65.0]


async def test_a_channel_that_never_falls_quiet_is_worked_on_all_the_same() -> None:
    """Somebody speaks every half minute for an hour: it is due ten minutes after the first word,
    and again.
    """
    hours, times = Hours(end=3_600), list[float]()

    async def work(name: str) -> None:
        if name == "room":
            times.append(hours.now)
        else:
            scheduler.touch("room", 60)
            scheduler.expect("clock", 30)

    scheduler = Scheduler(work, hours.monotonic, sleep=hours.sleep)
    scheduler.expect("clock", 0)
    async with running(scheduler):
        await hours.over.wait()
    assert times[:5] == [LONGEST_WAIT * n for n in (1, 2, 3, 4, 5)]


async def test_who_waits_cancels_the_work_on_the_same_channel() -> None:
    """It has ended when the one who waits goes on, stays away meanwhile, and comes again later."""
    begun, ended = anyio.Event(), list[str]()

    async def work(name: str) -> None:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(name)

    scheduler = Scheduler(work, anyio.current_time)
    async with running(scheduler):
        scheduler.expect("room", 0)
        await begun.wait()
        async with scheduler.preempt("room"):
            assert ended == ["room"]
            scheduler.expect("room", 0)
            for _ in range(20):
                await checkpoint()
            assert not scheduler.is_running("room")
        await until(lambda: scheduler.is_running("room"))


async def test_what_was_cancelled_comes_again_by_itself() -> None:
    """After a minute, when the rush is over."""
    hours, times = Hours(end=1_000), list[float]()

    async def work(name: str) -> None:
        times.append(hours.now)
        if len(times) == 1:
            await anyio.sleep_forever()

    scheduler = Scheduler(work, hours.monotonic, sleep=hours.sleep)
    scheduler.expect("room", 0)
    async with running(scheduler):
        await until(lambda: bool(times))
        async with scheduler.preempt("room"):
            pass
        await until(lambda: len(times) == 2)
    assert times == [0.0, RETRY_AFTER_CANCEL]


async def test_those_who_wait_find_a_free_model() -> None:
    """Two idle works and three models: the second who waits takes the place of the younger work,
    and none is begun.
    """
    at_work: list[str] = []

    async def work(name: str) -> None:
        at_work.append(name)
        try:
            await anyio.sleep_forever()
        finally:
            at_work.remove(name)

    scheduler = Scheduler(work, anyio.current_time, places=2, limit=3)
    async with running(scheduler):
        for name in ("old", "young"):
            scheduler.expect(name, 0)
            await until(lambda name=name: name in at_work)
        async with scheduler.preempt("x"):
            assert at_work == ["old", "young"]
            async with scheduler.preempt("y"):
                await until(lambda: at_work == ["old"])
                scheduler.expect("next", 0)
                await anyio.sleep(0.02)
                assert at_work == ["old"]
            await until(lambda: at_work == ["old", "next"])


async def test_weeks_of_touches_leaves_no_trace_in_the_heap() -> None:
    """Each look leaves a far due time and each word a near one: what they replaced is swept out."""
    hours = Hours(end=3_000 * 300.0)

    async def work(name: str) -> float:
        if name == "clock":
            scheduler.touch("room", 60)
            return 300.0
        return 30 * 24 * 3600.0

    scheduler = Scheduler(work, hours.monotonic, sleep=hours.sleep)
    scheduler.expect("clock", 0)
    async with running(scheduler):
        await hours.over.wait()
    assert len(scheduler._heap) < 1_010


async def test_cancelling_the_scheduler_ends_every_work() -> None:
    """Nothing runs on after a shutdown."""
    ended: list[str] = []

    async def work(name: str) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(name)

    scheduler = Scheduler(work, anyio.current_time, places=2)
    async with running(scheduler):
        scheduler.expect("a", 0)
        scheduler.expect("b", 0)
        await until(lambda: scheduler.is_running("a") and scheduler.is_running("b"))
        for _ in range(5):
            await checkpoint()
    assert sorted(ended) == ["a", "b"]
