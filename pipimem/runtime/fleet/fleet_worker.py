"""One worker among several hosts: claims channels that are due, and does their idle jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token

from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.memory.gates import Gate, next_opening
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.jobs import Ran
from pipimem.runtime.maintenance.scheduler import RETRY_AFTER_CANCEL
from pipimem.runtime.maintenance.worker import MaintenanceWorker, Visit
from pipimem.runtime.upkeep import ChannelUpkeep
from pipimem.settings import MaintenanceSettings
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.fleet.visits import CLAIMED_FOR, seconds_until
from pipimem.store.schedule import channel_stamps
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.dates.bounds import later

# The pause of a worker that found nothing due.
_LOOK_EVERY = 2.0
# All files are compared so often, by whichever host is first: what people edit makes a channel due.
_SCAN_EVERY = 300.0
_STILL_OPEN = timedelta(days=1)
_JOB = "idle work of the fleet"


@dataclass(slots=True, eq=False)
class FleetWorker:
    """The idle work of a workspace that several hosts share.

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
        """Build the worker that replaces `MaintenanceWorker` in a fleet."""
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
        """Claim channels and do their jobs until cancelled; a failing database costs pauses.

        Raises `DatabaseUnavailable` where it does not answer at the beginning.
        """
        await to_thread.run_sync(self.fleet.visits.waiting)
        async with anyio.create_task_group() as tasks:
            for _ in range(max(1, self.settings.concurrency)):
                tasks.start_soon(self.background.keep, _JOB, self._work)

    async def _work(self) -> None:
        while True:
            await self._scan_if_due()
            claimed = await to_thread.run_sync(self.fleet.visits.claim, 1)
            for folder in claimed:
                await self.visit(folder)
            if not claimed:
                await anyio.sleep(_LOOK_EVERY)

    async def visit(self, folder: str) -> None:
        """Do the open jobs of a channel, and note when it is next due.

        They end, and are done later, where another host waits for the channel's job lock.
        """
        channel = await to_thread.run_sync(self.open_for_visit, folder)
        if channel is None:
            await to_thread.run_sync(self.fleet.visits.set, folder, None)
            return
        with anyio.CancelScope() as scope:
            stop = partial(from_thread.run_sync, scope.cancel, token=current_token())
            with self.fleet.leases.stopping(self.fleet.job_lock_name(folder), stop):
                await self._do_jobs(folder, channel)
        if scope.cancelled_caught:
            await to_thread.run_sync(self.fleet.visits.set, folder, RETRY_AFTER_CANCEL)

    async def _do_jobs(self, folder: str, channel: ChannelUpkeep) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_claim, folder)
            outcome = await self.background.attempt(
                _JOB, partial(self._maintained, channel), folder, warns=self.report is None
            )
            tasks.cancel_scope.cancel()
        if isinstance(outcome, Failure):
            await to_thread.run_sync(self.fleet.visits.set, folder, outcome.pause)
            if self.report is not None:
                self.report(Visit(channel.id, problem=outcome.why))
            return
        ran, gates = outcome
        due = self._next(folder, gates)
        seconds = None if due is None else seconds_until(due, self.clock.now())
        await to_thread.run_sync(self.fleet.visits.set, folder, seconds)
        if ran and self.report is not None:
            self.report(Visit(channel.id, tuple(ran), due))

    async def _maintained(self, channel: ChannelUpkeep) -> tuple[list[Ran], Mapping[str, Gate]]:
        """Do the open jobs; return those that ran, and the gates afterwards."""
        await to_thread.run_sync(channel.store.take_in_spool)
        gates = await to_thread.run_sync(channel.gates)
        if not any(gates.values()):
            return [], gates
        ran = await channel.maintain()
        await channel.flush()
        return ran, await to_thread.run_sync(channel.gates)

    async def _keep_claim(self, folder: str) -> None:
        """Keep other workers from a channel, as long as this lasts."""
        while True:
            await anyio.sleep(CLAIMED_FOR / 3)
            with suppress(PipimemError):
                await to_thread.run_sync(self.fleet.visits.set, folder, CLAIMED_FOR)

    def _next(self, folder: str, gates: Mapping[str, Gate]) -> datetime | None:
        """Return when the channel is next due by the clock.

        A gate that is still open has a job that could do nothing, or that waits after a failure.
        """
        opening = next_opening(gates.values())
        if not any(gates.values()):
            return opening
        pause = self.background.shortest_pause(folder)
        wait = _STILL_OPEN if pause is None else timedelta(seconds=pause)
        again = later(self.clock.now(), wait)
        return min(opening or again, again)

    async def _scan_if_due(self) -> None:
        """Make channels due whose files people changed, and those that are new."""
        now = self.clock.monotonic()
        if now - self._last_scan < _SCAN_EVERY:
            return
        self._last_scan = now

        def scan() -> None:
            found = channel_stamps(self.store.channels_folder)
            marks = {folder: stamp.mark for folder, stamp in found}
            self.fleet.visits.mark(marks, self.settings.idle_seconds)

        await to_thread.run_sync(scan)
