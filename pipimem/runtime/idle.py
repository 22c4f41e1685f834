"""The idle work of a workspace: which channel is looked at when, on whose duty, and what it says afterwards."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token

from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.memory.gates import Gate, next_opening
from pipimem.runtime.background import Background, Failure
from pipimem.runtime.channel import Channel
from pipimem.runtime.maintenance import Ran
from pipimem.runtime.scheduling import Scheduler
from pipimem.runtime.watching import JOB as WATCH
from pipimem.runtime.watching import Watch
from pipimem.settings import Settings
from pipimem.store import agenda
from pipimem.store.agenda import Agenda, Appointment, Look
from pipimem.store.duty import Duty
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.dates.bounds import later

# Seconds until a channel is looked at again whose work took the process down with it.
_AFTER_A_FAILURE = 600.0
# And one whose job could do nothing (what would expire is what people ask for): tomorrow, unless there is news.
_STILL_OPEN = 24 * 3_600.0
# Gates count in whole seconds: a look before the second is over would find them closed.
_SOONEST = 1.0
# An open channel that nobody has used for so many seconds gives its memory back; reading it again costs milliseconds.
_QUIET = 600.0
# Channels nothing is known of (no agenda, or they are new) are looked at so many seconds apart: 20,000 take an hour.
_PACE = 0.2
# The watch may miss edits: all stamps are compared so often; where there is no watch, as often as a person can wait.
_SCAN_EVERY = 3_600.0
_SCAN_WITHOUT_A_WATCH = 60.0
# What overflowed the watch's queue goes on for a while.
_SCAN_AFTER_A_LOSS = 2.0
# The watch tells within a second; how old a change must be before a scan holds that it was missed.
_LONGEST_UNTOLD = 60.0
# In the schedule beside the names of folders, of which none is empty.
_SCAN = ""
# The jobs, as the operator reads of them.
JOB = "idle work"
_SCAN_JOB = "comparing all files"

_log = logging.getLogger("pipimem")


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at a channel: the jobs that ran or did not, and when it is next due; `problem` says what broke it."""

    channel: str
    ran: tuple[Ran, ...] = ()
    due: datetime | None = None
    problem: str = ""


@dataclass(slots=True)
class Idle:
    """One workspace's idle work, of which one process at a time has the duty.

    `opened` gives the channel of a folder that the host uses, `lent` one opened for a look and let go afterwards.
    """

    store: WorkspaceStore
    settings: Settings
    clock: Clock
    opened: Callable[[str], Channel | None]
    lent: Callable[[str], Channel | None]
    background: Background
    report: Callable[[Visit], None] | None = None
    _scheduler: Scheduler = field(init=False)
    _duty: Duty = field(init=False)
    _agenda: Agenda = field(init=False)
    _writing: anyio.Lock = field(default_factory=anyio.Lock)
    _begun: bool = False
    _touched: anyio.Event | None = None
    # Folders whose files changed while they were worked on, by us or by somebody else.
    _stirred: set[str] = field(default_factory=set)
    _watch: Watch = field(init=False)
    _begin_watch: bool = True
    _scan_every: float = _SCAN_EVERY

    def __post_init__(self) -> None:
        places = max(1, self.settings.maintenance.concurrency)
        limit = max(1, self.settings.model.concurrency)
        self._scheduler = Scheduler(self._work, self.clock.monotonic, places, limit)
        own = self.store.root / ".pipimem"
        self._duty, self._agenda = Duty(own / "idle.lock"), Agenda(own / "idle.jsonl")

    # ── what the host does ────────────────────────────────────────────────────────────────────────────────────

    def touched(self, folder: str) -> None:
        """Somebody spoke in a channel: its idle work waits its time from now."""
        self._scheduler.touch(folder, self.settings.maintenance.idle_seconds)
        if self._touched is not None:
            self._touched.set()

    def ahead(self, folder: str) -> AbstractAsyncContextManager[None]:
        """Somebody waits for a channel: while this is held, idle thoughts stay out of the way."""
        return self._scheduler.ahead(folder)

    # ── the duty ──────────────────────────────────────────────────────────────────────────────────────────────

    async def take_duty(self) -> bool:
        """Whether this process may do the idle work: no other one does."""
        since = self.clock.wall().isoformat(sep=" ", timespec="seconds")
        who = f"process {os.getpid()} ({_program()}), since {since}"
        return await to_thread.run_sync(self._duty.take, who)

    async def _duty_is_back(self) -> bool:
        """Whether the duty is ours again after its file was deleted; another process may have been faster."""
        is_back = await self.take_duty()
        what = (
            "was taken anew"
            if is_back
            else f"is held by {self.holder()}, which does the idle work now"
        )
        _log.warning("%s was deleted while it was in use; it %s", self._duty.path, what)
        return is_back

    def holder(self) -> str:
        """What the process that does the idle work says of itself."""
        return self._duty.holder()

    async def run_beside(self) -> None:
        """Do the idle work beside a host: from its first quiet minute on, unless another process does it."""
        quiet = self.settings.maintenance.idle_seconds
        await anyio.sleep(quiet)
        while not self._begun and not await self.take_duty():
            # The other process may end: whoever is spoken to here asks again.
            self._touched = anyio.Event()
            await self._touched.wait()
            await anyio.sleep(quiet)
        if not self._begun:
            await self.run()

    async def run(self) -> None:
        """Do the idle work of the whole workspace until cancelled; the duty is taken already."""
        self._begun, self._begin_watch = True, True
        self._watch = Watch(
            self.store.channels_folder, self._heard_from(current_token()), self.background
        )
        try:
            self._agenda = await to_thread.run_sync(Agenda.load, self._agenda.path)
            self._scheduler.expect(_SCAN, 0.0)
            await self._scheduler.run()
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._watch.stop)
            self._duty.give_back()
            self._begun = False

    # ── one look ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _work(self, folder: str) -> float | None:
        if folder == _SCAN:
            seconds = await self.background.attempt(_SCAN_JOB, self._scan)
            return seconds.pause if isinstance(seconds, Failure) else seconds
        if not self._duty.is_held:
            is_back = await self.background.attempt(JOB, self._duty_is_back)
            if is_back is not True:
                return is_back.pause if isinstance(is_back, Failure) else _AFTER_A_FAILURE
        look = partial(self._looked, folder)
        visit = await self.background.attempt(JOB, look, folder, warns=self.report is None)
        if isinstance(visit, Failure):
            visit = await self._put_off(folder, visit)
        if visit is None:
            return None
        if self.report is not None:
            self.report(visit)
        return None if visit.due is None else max(_SOONEST, self._seconds_to(visit.due))

    async def _looked(self, folder: str) -> Visit | None:
        visit = await self._visited(folder, self.opened(folder))
        if folder in self._stirred:
            self._stirred.discard(folder)
            self._compare(folder)
        return visit

    async def _put_off(self, folder: str, failure: Failure) -> Visit:
        """A look that failed comes again after its pause."""
        host, due = self.opened(folder), self._in(failure.pause)
        self._stirred.discard(folder)
        with suppress(PipimemError, OSError):
            await self._note(folder, Appointment(due, ""))
        return Visit(host.id if host else folder, due=due, problem=failure.why)

    async def _visited(self, folder: str, host: Channel | None) -> Visit | None:
        """Look at a channel, and run its jobs where a gate is open; `None` for a folder that is no channel."""
        channel, look, gates = await to_thread.run_sync(self._standing, folder, host)
        if channel is None:
            await self._note(folder, Appointment(None, look.mark))
            return None
        ran: list[Ran] = []
        quiet = self.clock.monotonic() - host.used if host else 0.0
        if any(gates.values()):
            # If this takes the process down with it, the others come first next time.
            await self._note(folder, Appointment(self._in(_AFTER_A_FAILURE), ""))
            ran = await channel.maintain()
        if quiet >= _QUIET or (ran and not host):
            await channel.settle()
        if quiet >= _QUIET or ran:
            _, look, gates = await to_thread.run_sync(self._standing, folder, channel)
        due = self._next(folder, gates)
        await self._note(folder, Appointment(due, look.mark))
        if host and quiet >= _QUIET:
            await host.rest()
        elif host and host.is_awake:
            # Once more, to give its memory back.
            due = min(due or self._in(_QUIET), self._in(_QUIET - quiet))
        return Visit(channel.id, tuple(ran), due)

    def _standing(
        self, folder: str, host: Channel | None
    ) -> tuple[Channel | None, Look, Mapping[str, Gate]]:
        """The channel of a folder, how its files stand, and its gates. Reads files, so it has a thread of its own."""
        look = agenda.looked(
            self.store.channels_folder / folder
        )  # first: what changes from here on has another mark
        channel = host or self.lent(folder)
        return channel, look, {} if channel is None else channel.thoughts.due()

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

    # ── the files ─────────────────────────────────────────────────────────────────────────────────────────────

    async def _scan(self) -> float:
        """Compare every channel's stamps with the agenda; gives the seconds until that is due again."""
        self._begin_watch = self._begin_watch or self._watch.is_deaf
        is_watched = not self._begin_watch
        if is_watched:
            for job in (JOB, WATCH):  # nothing went wrong since the last time
                await self.background.went_well(job)
        elif not self.background.pause(WATCH):
            await self._begin_to_watch()
        untold = await self._scanned()
        if untold and is_watched and self._scan_every == _SCAN_EVERY:
            folder = self.store.channels_folder / untold
            _log.warning("changes in %s were not told: all files are compared every minute", folder)
            self._scan_every = _SCAN_WITHOUT_A_WATCH
        return (
            min(self._scan_every, _SCAN_WITHOUT_A_WATCH) if self._begin_watch else self._scan_every
        )

    async def _begin_to_watch(self) -> None:
        """Begin the watch, or begin it anew; where it is refused, all files are compared more often."""
        self._begin_watch = (
            False  # before it begins: from then on it may say that it wants to begin anew
        )
        start = partial(self.background.attempt_in_thread, WATCH, self._watch.start)
        refused = await to_thread.run_sync(start)
        if isinstance(refused, Failure):
            self._begin_watch = True
            return
        if refused:
            _log.warning("%s", refused)
            # Where `channels/` was moved away, it may come back.
            self._begin_watch = not self.store.channels_folder.is_dir()
        self._scan_every = _SCAN_WITHOUT_A_WATCH if refused else _SCAN_EVERY

    async def _scanned(self) -> str:
        """What is new or changed is due once it has been quiet, all else by its own time; what is gone is struck out.

        Returns a folder whose change the watch has not told of, empty where there is none.
        """
        found = await to_thread.run_sync(lambda: dict(agenda.looks(self.store.channels_folder)))
        async with self._writing:
            for folder in self._agenda.appointments.keys() - found.keys():
                self._scheduler.forget(folder)
                await to_thread.run_sync(self._agenda.strike, folder)
        now = self.clock.wall().timestamp()
        unknown: list[tuple[float, str]] = []
        untold = ""
        for folder, look in found.items():
            known = self._agenda.appointments.get(folder)
            if known is None:
                unknown.append((look.changed, folder))
            elif self._scheduler.is_running(folder):
                continue  # it will say itself when it is due again
            elif known.mark not in ("", look.mark):
                if look.changed < now - _LONGEST_UNTOLD and not self._scheduler.is_pending(folder):
                    untold = folder
                self._scheduler.expect(folder, self._quiet_in(look, now))
            elif known.due is not None:
                # Known to the scheduler but at the start; said again, since a machine that slept has another clock.
                self._scheduler.expect(folder, self._seconds_to(known.due))
        for place, (_, folder) in enumerate(sorted(unknown, reverse=True)):
            self._scheduler.expect(folder, max(self._quiet_in(found[folder], now), place * _PACE))
        return untold

    def _quiet_in(self, look: Look, now: float) -> float:
        return min(look.changed - now, 0.0) + self.settings.maintenance.idle_seconds

    def _heard_from(self, token: EventLoopToken) -> Callable[[str | None], None]:
        cancelled = anyio.get_cancelled_exc_class()

        def heard(folder: str | None) -> None:
            """Called from the watch's threads; raises what `_heard` raises.

            Once the loop has ended, or is about to, there is nobody left to tell.
            """
            error: Exception | None = None
            with suppress(RuntimeError, CancelledError, cancelled):
                error = from_thread.run_sync(self._error_of_hearing, folder, token=token)
            if error is not None:
                raise error

        return heard

    def _error_of_hearing(self, folder: str | None) -> Exception | None:
        try:
            self._heard(folder)
        except Exception as error:  # noqa: BLE001 - told apart from a loop that is gone; the watch notes it
            return error
        return None

    def _heard(self, folder: str | None) -> None:
        if folder is None:
            self._begin_watch = True
            self._scheduler.expect(_SCAN, _SCAN_AFTER_A_LOSS)
        elif self._scheduler.is_running(folder):
            self._stirred.add(folder)  # changed by whom, only the end of the look can tell
        else:
            self._compare(folder)

    def _compare(self, folder: str) -> None:
        """A channel whose stamps are not those of our last look is due once it is quiet."""
        known = self._agenda.appointments.get(folder)
        if known is None or known.mark != agenda.looked(self.store.channels_folder / folder).mark:
            self._scheduler.touch(folder, self.settings.maintenance.idle_seconds)

    async def _note(self, folder: str, appointment: Appointment) -> None:
        async with self._writing:
            await to_thread.run_sync(self._agenda.note, folder, appointment)

    # ── times ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _seconds_to(self, due: datetime) -> float:
        return (due - self.clock.now()).total_seconds()

    def _in(self, seconds: float) -> datetime:
        return later(self.clock.now(), timedelta(seconds=seconds))


def _program() -> str:
    """What runs, without its arguments: they may hold a key."""
    path = Path(sys.argv[0] or "python")
    return f"python -m {path.parent.name}" if path.name == "__main__.py" else path.name
