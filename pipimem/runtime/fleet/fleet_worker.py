"""One worker among several hosts: claims channels that are due, and does the jobs of the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.memory.gates import next_opening
from pipimem.runtime.fleet.job_queue import STALLED_AFTER, JobQueue
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.scheduler import RETRY_AFTER_CANCEL
from pipimem.runtime.maintenance.worker import MaintenanceWorker, Visit
from pipimem.runtime.upkeep import ChannelUpkeep
from pipimem.settings import MaintenanceSettings
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.fleet.visits import seconds_until
from pipimem.store.schedule import channel_stamps
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.dates.bounds import later

# So many channels are claimed in one statement.
_CLAIMED_AT_ONCE = 20
# The pause of a dispatcher that found nothing due.
_LOOK_EVERY = 2.0
# All files are compared so often, by whichever host is first: what people edit makes a channel due.
_SCAN_EVERY = 300.0
_STILL_OPEN = timedelta(days=1)
_JOB = "idle work of the fleet"

_log = logging.getLogger("pipimem")


@dataclass(slots=True, eq=False)
class FleetWorker:
    """The idle work of a workspace that several hosts share; runs on asyncio.

    `open_for_visit` opens the channel of a folder, `None` for a folder that is no channel.
    """

    store: WorkspaceStore
    settings: MaintenanceSettings
    clock: Clock
    fleet: Fleet
    open_for_visit: Callable[[str], ChannelUpkeep | None]
    background: Background
    report: Callable[[Visit], None] | None = None
    _last_scan: float = field(default=float("-inf"))

    @classmethod
    def of(
        cls, worker: MaintenanceWorker, fleet: Fleet, report: Callable[[Visit], None] | None
    ) -> FleetWorker:
        """The one in the place of that of one host."""
        settings = worker.settings.maintenance
        return cls(
            worker.store,
            settings,
            worker.clock,
            fleet,
            worker.open_for_visit,
            worker.background,
            report,
        )

    async def run(self) -> None:
        """Claims channels and does jobs until cancelled; a failing database costs pauses.

        Raises `DatabaseUnavailable` where it does not answer at the beginning.
        """
        await to_thread.run_sync(self.fleet.visits.waiting)
        queue = JobQueue.of(self.fleet.database.address, self.fleet.name, self.do_job)
        async with queue.opened(), anyio.create_task_group() as tasks:
            tasks.start_soon(self.background.keep, _JOB, partial(self._dispatch, queue))
            tasks.start_soon(self.background.keep, _JOB, partial(self._rescue, queue))
            places = max(1, self.settings.concurrency)
            await self.background.keep(_JOB, partial(queue.work, places))

    async def _dispatch(self, queue: JobQueue) -> None:
        """Puts the open jobs of channels that are due into the queue, again and again."""
        while True:
            await self._scan_if_due()
            claimed = await to_thread.run_sync(self.fleet.visits.claim, _CLAIMED_AT_ONCE)
            for folder in claimed:
                await self.look_at(folder, queue)
            if not claimed:
                await anyio.sleep(_LOOK_EVERY)

    async def _rescue(self, queue: JobQueue) -> None:
        while True:
            rescued = await queue.rescue()
            if rescued:
                _log.warning("%d jobs of a worker that is gone were put back", rescued)
            await anyio.sleep(STALLED_AFTER / 2)

    async def look_at(self, folder: str, queue: JobQueue) -> None:
        """Queues the open jobs of a channel, or notes when it is next due."""
        channel = await to_thread.run_sync(self.open_for_visit, folder)
        if channel is None:
            await to_thread.run_sync(self.fleet.visits.set, folder, None)
            return
        try:
            await to_thread.run_sync(channel.store.take_in_spool)
            gates = await to_thread.run_sync(channel.gates)
        except (PipimemError, OSError) as error:
            await self._postpone(folder, channel.id, str(error))
            return
        kinds = [kind for kind, gate in gates.items() if gate]
        if kinds:
            await queue.defer(folder, kinds)
            return  # due again in ten minutes, as claimed, or when the jobs say so
        await self._set_due(folder, channel)

    async def do_job(self, folder: str, kind: str) -> None:
        """Does one job of a channel if its gate is still open; never raises for the job's sake.

        It ends, and is done later, where another host waits for the channel's job lock.
        """
        channel = await to_thread.run_sync(self.open_for_visit, folder)
        if channel is None:
            return
        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:
            stop = partial(loop.call_soon_threadsafe, scope.cancel)
            name = self.fleet.job_lock_name(folder)
            with self.fleet.leases.stopping(name, stop):
                await self._done(folder, kind, channel)
        if scope.cancelled_caught:
            await to_thread.run_sync(self.fleet.visits.set, folder, RETRY_AFTER_CANCEL)

    async def _done(self, folder: str, kind: str, channel: ChannelUpkeep) -> None:
        outcome = await self.background.attempt(
            kind, partial(channel.maintain, only=(kind,)), folder, warns=self.report is None
        )
        if isinstance(outcome, Failure):
            await self._postpone(folder, channel.id, outcome.why, outcome.pause)
            return
        await channel.flush()
        due = await self._set_due(folder, channel, done=kind)
        if self.report is not None:
            self.report(Visit(channel.id, tuple(outcome), due))

    async def _set_due(
        self, folder: str, channel: ChannelUpkeep, done: str = ""
    ) -> datetime | None:
        """Notes when a channel is next due by the clock, once the job `done` was done, if any.

        A gate that its own job left open has a job that could do nothing: tomorrow again. While
        other gates are open, their jobs are in the queue, and the channel is due as claimed.
        """
        gates = await to_thread.run_sync(channel.gates)
        opening = next_opening(gates.values())
        still_open = [kind for kind, gate in gates.items() if gate]
        if still_open and done not in still_open:
            return None
        if still_open:
            again = later(self.clock.now(), _STILL_OPEN)
            opening = min(opening or again, again)
        seconds = None if opening is None else seconds_until(opening, self.clock.now())
        await to_thread.run_sync(self.fleet.visits.set, folder, seconds)
        return opening

    async def _postpone(self, folder: str, name: str, why: str, pause: float = 600.0) -> None:
        await to_thread.run_sync(self.fleet.visits.set, folder, pause)
        if self.report is not None:
            self.report(Visit(name, problem=why))

    async def _scan_if_due(self) -> None:
        """Makes channels due whose files people changed, and those that are new."""
        now = self.clock.monotonic()
        if now - self._last_scan < _SCAN_EVERY:
            return
        self._last_scan = now

        def scan() -> None:
            found = channel_stamps(self.store.channels_folder)
            marks = {folder: stamp.mark for folder, stamp in found}
            self.fleet.visits.mark(marks, self.settings.idle_seconds)

        await to_thread.run_sync(scan)
