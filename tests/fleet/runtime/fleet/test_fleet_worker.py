"""Workers of several hosts share the idle work of one workspace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from pipimem import Message, Pipimem
from pipimem.clock import Clock
from pipimem.runtime.fleet import fleet_worker
from pipimem.runtime.fleet.fleet_worker import FleetWorker
from pipimem.runtime.job_runner import Done
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.maintenance.worker import Visit
from pipimem.state.postgres import FleetDatabase
from pipimem.store.fleet.visits import Visits
from pipimem.store.workspace import WorkspaceStore

pytestmark = pytest.mark.anyio
_SAID = (
    "我们决定以后每周二上午十点开发布会",
    "记住：生产库不许直接改",
    "we never deploy on Fridays",
    "the release moves to 12 March",
)


class _LaterClock(Clock):
    """An hour after the talk, so that it has been quiet for long enough."""

    def now(self):
        return super().now() + timedelta(hours=1)


async def _talked(workspace: Path, channels: int) -> None:
    pipimem = Pipimem(workspace)
    for number in range(channels):
        channel = await pipimem.channel(f"c{number}", kind="group")
        for index, text in enumerate(_SAID):
            turn = await channel.before_turn(text, speaker="Dana")
            said = [
                Message.user(text, speaker="Dana", id=f"m{number}-{index}"),
                Message.assistant("ok", id=f"b{number}-{index}"),
            ]
            await channel.after_turn(turn, said)


def _visits(root: Path, database: FleetDatabase) -> Visits:
    fleet = WorkspaceStore.open(root).fleet
    assert fleet is not None
    return Visits(database, fleet.name)


def _worker(root: Path, seen: list[Visit]) -> FleetWorker:
    pipimem = Pipimem(root, clock=_LaterClock())
    fleet = pipimem.store.fleet
    assert fleet is not None
    return FleetWorker.of(pipimem._idle, fleet, seen.append)


async def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.1)


async def test_two_workers_do_each_channels_jobs_once(root: Path, database: FleetDatabase) -> None:
    """Talk that waits is consolidated, whichever host claims its channel; nothing is done twice."""
    await _talked(root, 6)
    seen: list[Visit] = []
    _visits(root, database).mark({f"c{number}": "new" for number in range(6)}, -1)
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            worker = _worker(root, seen)
            worker._last_scan = float("inf")
            tasks.start_soon(worker.run)
        await _until(lambda: len({visit.channel for visit in seen}) == 6)
        tasks.cancel_scope.cancel()
    ran = [(visit.channel, job.task) for visit in seen for job in visit.ran if job.ran]
    assert sorted(ran) == [(f"c{number}", "consolidate") for number in range(6)]
    memory = (root / "channels" / "c3" / "MEMORY.md").read_text()
    assert memory.count("never deploy on Fridays") == 1


async def test_a_channel_is_claimed_as_long_as_its_jobs_take(
    root: Path, database: FleetDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other worker is given it; of a worker that died others get it when the claim is over."""
    await _talked(root, 1)
    monkeypatch.setattr(fleet_worker, "CLAIMED_FOR", 0.3)
    visits, waiting = _visits(root, database), anyio.Event()

    async def slow(*_: object, **__: object) -> tuple[Done, ...]:
        waiting.set()
        await anyio.sleep_forever()
        return ()

    monkeypatch.setattr(ChannelJobs, "consolidate", slow)
    visits.set("c0", None)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_worker(root, []).visit, "c0")
            await waiting.wait()
            for _ in range(5):
                await anyio.sleep(0.1)
                assert visits.claim(1) == []
            tasks.cancel_scope.cancel()
    await anyio.sleep(0.4)
    assert visits.claim(1) == ["c0"]


async def test_a_channel_with_nothing_to_do_is_due_when_its_gate_opens(
    root: Path, database: FleetDatabase
) -> None:
    """And not again before that."""
    await _talked(root, 1)
    worker = _worker(root, [])
    await worker.visit("c0")
    worker.fleet.visits.set("c0", -1)
    assert worker.fleet.visits.claim(1) == ["c0"]
    await worker.visit("c0")
    ((left,),) = worker.fleet.visits.database.rows(
        "select due - now() from pipimem.visit where id = 'c0'"
    )
    assert left is None or left > timedelta(minutes=10)


async def test_a_folder_that_is_no_channel_is_due_no_more(
    root: Path, database: FleetDatabase
) -> None:
    """It is left alone."""
    await _talked(root, 1)
    worker = _worker(root, [])
    worker.fleet.visits.set("gone", -1)
    await worker.visit("gone")
    assert worker.fleet.visits.claim(9) == []


async def test_a_compaction_elsewhere_ends_an_idle_job(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on one host: who is about to drop messages does not wait for the model of idle work, which
    is done later."""
    await _talked(root, 1)
    really, began = ChannelJobs.consolidate, anyio.Event()

    async def slow_at_first(jobs: ChannelJobs, *args: object, **named: object) -> tuple[Done, ...]:
        if not began.is_set():
            began.set()
            await anyio.sleep_forever()
        return await really(jobs, *args, **named)

    monkeypatch.setattr(ChannelJobs, "consolidate", slow_at_first)
    seen: list[Visit] = []
    worker = _worker(root, seen)
    worker.fleet.visits.set("c0", None)
    channel = await Pipimem(root).channel("c0")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.visit, "c0")
            await began.wait()
            receipt = await channel.before_compaction(deadline=8)
    assert receipt.state == "consolidated"
    assert seen == []
    ((left,),) = worker.fleet.visits.database.rows(
        "select due - now() from pipimem.visit where id = 'c0'"
    )
    assert timedelta(seconds=30) < left <= timedelta(seconds=60)
