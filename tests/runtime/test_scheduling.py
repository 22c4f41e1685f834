"""The scheduler: due times for many channels, one task."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from pipimem.runtime.scheduling import Scheduler

pytestmark = pytest.mark.anyio


async def until(true: Callable[[], bool]) -> None:
    """Wait for it, however busy the machine is."""
    with anyio.fail_after(20):
        while not true():
            await anyio.sleep(0.005)


async def test_quiet_channels_are_worked_on_in_the_order_they_became_quiet() -> None:
    """A touch moves a channel back; the others do not wait for it."""
    done: list[str] = []

    async def work(name: str) -> None:
        done.append(name)

    scheduler = Scheduler(work, anyio.current_time)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scheduler.run)
        scheduler.touch("a", 0.02)
        scheduler.touch("b", 0.03)
        scheduler.touch("a", 1.0)
        await until(lambda: bool(done))
        assert done == ["b"]
        await until(lambda: len(done) == 2)
        tasks.cancel_scope.cancel()
    assert done == ["b", "a"]


async def test_an_earlier_time_wakes_the_sleeper() -> None:
    """Who sleeps until later is woken for what is due sooner."""
    done: list[str] = []

    async def work(name: str) -> None:
        done.append(name)

    scheduler = Scheduler(work, anyio.current_time)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scheduler.run)
        scheduler.touch("late", 60)
        await anyio.sleep(0.01)
        scheduler.touch("soon", 0.01)
        await until(lambda: bool(done))
        tasks.cancel_scope.cancel()
    assert done == ["soon"]
