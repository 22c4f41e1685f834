"""The maintenance worker of a workspace: visits channels when due, under the leader lock."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.lowlevel import current_token
from msgspec import Struct

from pipimem.clock import Clock
from pipimem.errors import PipimemError, WorkspaceError
from pipimem.memory.gates import Gate, next_opening
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.changed_files import JOB, SCAN, ChangedFiles
from pipimem.runtime.maintenance.jobs import Ran
from pipimem.runtime.maintenance.scheduler import Scheduler
from pipimem.runtime.upkeep import ChannelUpkeep
from pipimem.settings import Settings
from pipimem.state.schedule import ScheduledVisit
from pipimem.store.leader_lock import LeaderLock
from pipimem.store.schedule import ChannelStamp
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.dates.bounds import later

if TYPE_CHECKING:
    from pipimem.store.fleet.visits import Visits


# Seconds until a channel is looked at again whose work took the process down with it.
_AFTER_A_FAILURE = 600.0
# And one whose job could do nothing (what would expire is what people ask for): tomorrow, unless
# there is news.
_STILL_OPEN = 24 * 3_600.0
# Gates count in whole seconds: a look before the second is over would find them closed.
_SOONEST = 1.0
# An open channel that nobody has used for so many seconds gives its memory back; reading it again
# costs milliseconds.
_QUIET = 600.0
# The comparison of all files, as the operator reads of it.
_SCAN_JOB = "comparing all files"

_log = logging.getLogger("pipimem")


class Visit(Struct, frozen=True):
    """One visit to a channel: its jobs, and when it is due again; `problem` is an error."""

    channel: str
    ran: tuple[Ran, ...] = ()
    due: datetime | None = None
    problem: str = ""


@dataclass(slots=True)
class MaintenanceWorker:
    """One workspace's idle jobs, run by the one process that holds the leader lock.

    `opened` gives the channel of a folder that the host uses, `open_for_visit` one that is opened
    for a visit and closed afterwards.
    """

    store: WorkspaceStore
    settings: Settings
    clock: Clock
    opened: Callable[[str], ChannelUpkeep | None]
    open_for_visit: Callable[[str], ChannelUpkeep | None]
    background: Background
    report: Callable[[Visit], None] | None = None
    _scheduler: Scheduler = field(init=False)
    _leader_lock: LeaderLock = field(init=False)
    _files: ChangedFiles = field(init=False)
    _retaking: anyio.Lock = field(default_factory=anyio.Lock)
    _begun: bool = False
    _message_event: anyio.Event | None = None

    def __post_init__(self) -> None:
        places = max(1, self.settings.maintenance.concurrency)
        limit = max(1, self.settings.model.concurrency)
        self._scheduler = Scheduler(self._work, self.clock.monotonic, places, limit)
        self._leader_lock = LeaderLock(self.store.root / ".pipimem" / "idle.lock")
        self._files = ChangedFiles(
            self.store,
            self.clock,
            self.background,
            self._scheduler,
            self.settings.maintenance.idle_seconds,
        )

    # ── what the host does ────────────────────────────────────────────────────────────────────────

    def message_received(self, folder: str) -> None:
        """Put off the idle work of a channel in which a message came."""
        self._scheduler.touch(folder, self.settings.maintenance.idle_seconds)
        if self._message_event is not None:
            self._message_event.set()

    def preempt(self, folder: str) -> AbstractAsyncContextManager[None]:
        """While held, idle jobs of the channel are cancelled, and others make room."""
        return self._scheduler.preempt(folder)

    # ── the leader lock ───────────────────────────────────────────────────────────────────────────

    async def take_leadership(self) -> bool:
        """Whether this process may do the idle work: no other one does."""
        since = self.clock.wall().isoformat(sep=" ", timespec="seconds")
        who = f"process {os.getpid()} ({_program()}), since {since}"
        return await to_thread.run_sync(self._leader_lock.take, who)

    async def _retake_lock(self) -> bool:
        """Take the leader lock again after its file was deleted; whether we got it."""
        async with self._retaking:
            if self._leader_lock.is_held:  # the visit of another channel was first
                return True
            is_back = await self.take_leadership()
        outcome = "was taken anew"
        if not is_back:
            outcome = f"is held by {self.holder()}, which does the idle work now"
        _log.warning("%s was deleted while it was in use; it %s", self._leader_lock.path, outcome)
        return is_back

    @property
    def is_leader(self) -> bool:
        """Whether this process has the leader lock."""
        return self._leader_lock.is_held

    def holder(self) -> str:
        """What the process that does the idle work says of itself."""
        return self._leader_lock.holder()

    async def run_beside(self) -> None:
        """Run from the first quiet minute on, unless another process holds the lock."""
        idle_for = self.settings.maintenance.idle_seconds
        await anyio.sleep(idle_for)
        while not self._begun and not await self.take_leadership():
            # The other process may end: whoever is spoken to here asks again.
            self._message_event = anyio.Event()
            await self._message_event.wait()
            await anyio.sleep(idle_for)
        if not self._begun:
            await self.run()

    async def run(self) -> None:
        """Do the idle work of the whole workspace until cancelled; the leader lock is held.

        A bug in it is logged, and it begins anew after a pause.
        """
        self._begun = True
        try:
            await self.background.keep(JOB, self._run)
        finally:
            self._leader_lock.give_back()
            self._begun = False

    async def run_reporting(self, report: Callable[[Visit], None] | None) -> None:
        """Run; each look is reported, and what `report` raises ends it and is raised."""
        refused: list[Exception] = []

        def report_or_stop(visit: Visit) -> None:
            try:
                if report is not None:
                    report(visit)
            except Exception as error:  # noqa: BLE001 - the caller's own, raised below
                refused.append(error)
                watching.cancel()

        self.report = report_or_stop if report is not None else None
        with anyio.CancelScope() as watching:
            await self.run()
        if refused:
            raise refused[0]

    async def _run(self) -> None:
        self._files.begin(current_token())
        try:
            await self._files.load()
            await self._scheduler.run()
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._files.stop)

    # ── one look ──────────────────────────────────────────────────────────────────────────────────

    async def _work(self, folder: str) -> float | None:
        """Looks at a channel, or at all files; in how many seconds it is to be done again."""
        if folder == SCAN:
            seconds = await self.background.attempt(_SCAN_JOB, self._files.scan)
            return seconds.pause if isinstance(seconds, Failure) else seconds
        pause = await self._pause_without_lock()
        if pause is not None:
            return pause
        pause = self.background.pause_after_bug(JOB, folder)
        if pause:  # news of the channel do not mend a bug
            return pause
        look = partial(self._visit_again, folder)
        visit = await self.background.attempt(JOB, look, folder, warns=self.report is None)
        if isinstance(visit, Failure):
            visit = await self._postpone(folder, visit)
        if visit is None:
            return None
        if self.report is not None:
            self.report(visit)
        return None if visit.due is None else max(_SOONEST, self._seconds_to(visit.due))

    async def _pause_without_lock(self) -> float | None:
        """Takes a lost leader lock again; where that fails, the seconds to the next attempt."""
        if self._leader_lock.is_held:
            return None
        is_back = await self.background.attempt(JOB, self._retake_lock)
        if isinstance(is_back, Failure):
            return is_back.pause
        return None if is_back else _AFTER_A_FAILURE

    async def _visit_again(self, folder: str) -> Visit | None:
        visit = await self._visit(folder, self.opened(folder))
        self._files.compare_if_changed(folder)
        return visit

    async def _postpone(self, folder: str, failure: Failure) -> Visit:
        """A look that failed comes again after its pause."""
        host, due = self.opened(folder), self._in(failure.pause)
        self._files.drop_change(folder)
        with suppress(PipimemError, OSError):
            await self._files.note(folder, ScheduledVisit(due, ""))
        return Visit(host.id if host else folder, due=due, problem=failure.why)

    async def _visit(self, folder: str, host: ChannelUpkeep | None) -> Visit | None:
        """Run the open jobs of a channel; `None` for a folder that is no channel."""
        channel, stamps, gates = await to_thread.run_sync(self._inspect, folder, host)
        if channel is None:
            await self._files.note(folder, ScheduledVisit(None, stamps.mark))
            return None
        idle_for = self.clock.monotonic() - channel.used if host else 0.0
        ran = await self._worked(folder, channel, stamps, gates)
        if idle_for >= _QUIET or (ran and not host):
            await channel.flush()
        if idle_for >= _QUIET or ran:
            _, stamps, gates = await to_thread.run_sync(self._inspect, folder, channel)
        due = self._next(folder, gates)
        await self._files.note(folder, ScheduledVisit(due, stamps.mark))
        if host:
            due = await self._unloaded(host, idle_for, due)
        return Visit(channel.id, tuple(ran), due)

    async def _worked(
        self, folder: str, channel: ChannelUpkeep, stamps: ChannelStamp, gates: Mapping[str, Gate]
    ) -> list[Ran]:
        """Run the jobs whose gates are open; with none, put kept lines back into edited files."""
        if any(gates.values()):
            # If this takes the process down with it, the others come first next time.
            await self._files.note(folder, ScheduledVisit(self._in(_AFTER_A_FAILURE), ""))
            return await channel.maintain()
        if self._files.has_news(folder, stamps):
            # An editor's older buffer is merged whenever notes are read; people are to see it.
            await channel.jobs.settle_edits()
        return []

    async def _unloaded(
        self, host: ChannelUpkeep, idle_for: float, due: datetime | None
    ) -> datetime | None:
        """Free the memory of a quiet channel; returns when it is due, if only to free it."""
        if idle_for >= _QUIET:
            await host.unload()
        elif host.is_loaded:
            return min(due or self._in(_QUIET), self._in(_QUIET - idle_for))
        return due

    def _inspect(
        self, folder: str, host: ChannelUpkeep | None
    ) -> tuple[ChannelUpkeep | None, ChannelStamp, Mapping[str, Gate]]:
        """The channel of a folder, its file stamps and gates. Reads files: call in a thread."""
        # First: what changes from here on has another mark.
        stamps = self._files.stamp(folder)
        channel = host or self.open_for_visit(folder)
        return channel, stamps, {} if channel is None else channel.gates()

    def _next(self, folder: str, gates: Mapping[str, Gate]) -> datetime | None:
        """When the channel is next due by the clock.

        A gate that is still open has a job that could do nothing, or that waits after a failure.
        """
        opening = next_opening(gates.values())
        if not any(gates.values()):
            return opening
        pause = self.background.shortest_pause(folder)
        again = self._in(_STILL_OPEN if pause is None else pause)
        return min(opening or again, again)

    # ── times ─────────────────────────────────────────────────────────────────────────────────────

    def _seconds_to(self, due: datetime) -> float:
        return (due - self.clock.now()).total_seconds()

    def _in(self, seconds: float) -> datetime:
        return later(self.clock.now(), timedelta(seconds=seconds))


def _program() -> str:
    """What runs, without its arguments: they may hold a key."""
    path = Path(sys.argv[0] or "python")
    return f"python -m {path.parent.name}" if path.name == "__main__.py" else path.name


# One statement for all channels that were talked in within so many seconds. What a process that is
# killed had not told yet, the next comparison of all files finds.
_TELLING_PAUSE = 1.0


@dataclass(slots=True, eq=False)
class DueTimes:
    """The due times of channels that this process talks in; on one event loop."""

    visits: Visits
    idle_seconds: float
    _talked: set[str] = field(default_factory=set)
    _event: anyio.Event = field(default_factory=anyio.Event)

    def message_received(self, folder: str) -> None:
        """There was talk in the channel of a folder."""
        self._talked.add(folder)
        self._event.set()

    async def run(self) -> None:
        """Writes due times until cancelled; raises `StoreError` with nothing forgotten."""
        while True:
            await self._event.wait()
            self._event = anyio.Event()
            await self._write()
            await anyio.sleep(_TELLING_PAUSE)

    async def _write(self) -> None:
        talked, self._talked = self._talked, set()
        with ExitStack() as on_failure:
            on_failure.callback(self._add_again, talked)
            await to_thread.run_sync(partial(self.visits.put_off, talked, self.idle_seconds))
            on_failure.pop_all()

    def _add_again(self, talked: set[str]) -> None:
        self._talked |= talked
        self._event.set()


Report = Callable[["Visit"], None]
# The job, as the operator reads of it.
DUE_TIMES = "telling the fleet of talk"


@dataclass(slots=True, eq=False)
class IdleWork:
    """The idle work of a workspace; `worker` does it on one host."""

    worker: MaintenanceWorker
    # `None` on one host.
    _due_times: DueTimes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        fleet = self.worker.store.fleet
        if fleet is not None:
            idle_seconds = self.worker.settings.maintenance.idle_seconds
            self._due_times = DueTimes(fleet.visits, idle_seconds)

    def message_received(self, folder: str) -> None:
        """Puts off the idle work of a channel in which a message came."""
        self.worker.message_received(folder)
        if self._due_times is not None:
            self._due_times.message_received(folder)

    async def run_beside(self) -> None:
        """What runs beside the turns of a bot, until cancelled.

        In a fleet other hosts are told of the talk, and `pipimem watch --fleet` does the work.
        """
        keep = self.worker.background.keep
        if self._due_times is not None:
            await keep(DUE_TIMES, self._due_times.run)
        elif self.worker.settings.maintenance.enabled:
            await keep(JOB, self.worker.run_beside)

    async def watch(self, report: Report | None, began: Callable[[], None]) -> None:
        """Does the idle work of every channel until cancelled, on one host.

        Raises `WorkspaceError` where another process does it already, and in a fleet.
        """
        if self._due_times is not None:
            raise WorkspaceError(
                "[fleet] database is set: several hosts share this workspace. "
                "`pipimem watch --fleet` does the idle work on each."
            )
        if not await self.worker.take_leadership():
            raise WorkspaceError(
                f"{self.worker.holder()} does the idle work of {self.worker.store.root} already. "
                "Stop it first; a bot leaves "
                "it to others with `enabled = false` under [maintenance] in pipimem.toml."
            )
        began()
        await self.worker.run_reporting(report)

    async def watch_for_fleet(self, report: Report | None, began: Callable[[], None]) -> None:
        """Does the idle work of channels that are due, beside the workers of other hosts.

        Raises `WorkspaceError` outside a fleet, `SettingsError` without `pipimem[fleet]`.
        """
        fleet = self.worker.store.fleet
        if fleet is None:
            raise WorkspaceError(
                "There is no fleet: set database under [fleet] in pipimem.toml, or leave --fleet "
                "out."
            )
        from pipimem.runtime.fleet.fleet_worker import FleetWorker  # of a fleet alone

        worker = FleetWorker.of(self.worker, fleet, report)
        began()
        await worker.run()
