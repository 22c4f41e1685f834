"""Which channels' files changed: told by a watch, or found by comparing all stamps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken

from pipimem.clock import Clock
from pipimem.errors import StoreError
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.scheduler import Scheduler
from pipimem.runtime.maintenance.watch import JOB as WATCH
from pipimem.runtime.maintenance.watch import Watch
from pipimem.state.schedule import ScheduledVisit
from pipimem.store import schedule
from pipimem.store.disk import presence
from pipimem.store.schedule import ChannelStamp, Schedule
from pipimem.store.workspace import WorkspaceStore

# Channels nothing is known of (no schedule, or they are new) are looked at so many seconds apart:
# 20,000 take an hour.
_PACE = 0.2
# The watch may miss edits: all stamps are compared so often; where there is no watch, as often as a
# person can wait.
_SCAN_EVERY = 3_600.0
_SCAN_WITHOUT_A_WATCH = 60.0
# What overflowed the watch's queue goes on for a while.
_SCAN_AFTER_A_LOSS = 2.0
# The watch tells within a second; how old a change must be before a scan holds that it was missed.
_LONGEST_UNTOLD = 60.0
# A transaction waits for the disk several times; the schedule is a cache.
_WRITE_EVERY = 1.0
# In the schedule beside the names of folders, of which none is empty.
SCAN = ""
# The idle work as a whole, as the operator reads of it.
JOB = "idle work"

_log = logging.getLogger("pipimem")


@dataclass(slots=True)
class ChangedFiles:
    """Makes channels due whose files changed, after `idle_seconds` of quiet.

    Keeps the stamps of each channel's files as they were at its last visit.
    """

    store: WorkspaceStore
    clock: Clock
    background: Background
    scheduler: Scheduler
    idle_seconds: float
    _schedule: Schedule = field(init=False)
    _writing: anyio.Lock = field(default_factory=anyio.Lock)
    # When the schedule was written last, on the clock's monotonic scale.
    _written: float = float("-inf")
    # Folders whose files changed while they were worked on, by us or by somebody else.
    _changed_while_running: set[str] = field(default_factory=set)
    _watch: Watch = field(init=False)
    _must_start_watch: bool = True
    _scan_every: float = _SCAN_EVERY

    def __post_init__(self) -> None:
        self._schedule = Schedule(self.store.state)

    def begin(self, token: EventLoopToken) -> None:
        """Listen for changes, on the event loop of `token`, once the watch has started."""
        self._must_start_watch = True
        listener = self._change_listener(token)
        self._watch = Watch(self.store.channels_folder, listener, self.background)

    async def load(self) -> None:
        """Read the schedule, and have all files compared first; the watch starts with that."""
        self._schedule = await to_thread.run_sync(Schedule.load, self.store.state)
        self.scheduler.expect(SCAN, 0.0)

    def stop(self) -> None:
        """End the watch and write what was noted; waits for threads and the disk."""
        self._watch.stop()
        with suppress(StoreError):  # without it these channels are looked at once more
            self._schedule.write()

    async def note(self, folder: str, visit: ScheduledVisit) -> None:
        """Note when a channel is due next, and the mark of its files now.

        It is written at once where work begins, else with what else is noted within a second.
        """
        self._schedule.note(folder, visit)
        now = self.clock.monotonic()
        if visit.mark == "" or now - self._written > _WRITE_EVERY:
            self._written = now
            async with self._writing:
                await to_thread.run_sync(self._schedule.write)

    def stamp(self, folder: str) -> ChannelStamp:
        """The stamps of a channel's files now."""
        return schedule.channel_stamp(self.store.channels_folder / folder)

    def compare_if_changed(self, folder: str) -> None:
        """The visit of a channel is over: due again if its files changed meanwhile."""
        if folder in self._changed_while_running:
            self._changed_while_running.discard(folder)
            self._compare(folder)

    def drop_change(self, folder: str) -> None:
        """The visit of a channel failed: what changed meanwhile waits for the next one."""
        self._changed_while_running.discard(folder)

    async def scan(self) -> float:
        """Compare all stamps with the schedule; returns the seconds until the next scan."""
        if self._watch.is_unavailable and not self._must_start_watch:
            _log.warning("a thread of the watch ended: the watch begins anew")
            self._must_start_watch = True
        is_watched = not self._must_start_watch
        if is_watched:
            for job in (JOB, WATCH):  # nothing went wrong since the last time
                await self.background.note_success(job)
        elif not self.background.pause(WATCH):
            await self._start_watch()
        missed = await self._schedule_changed()
        if missed and is_watched and self._scan_every == _SCAN_EVERY:
            folder = self.store.channels_folder / missed
            _log.warning("changes in %s were not told: all files are compared every minute", folder)
            self._scan_every = _SCAN_WITHOUT_A_WATCH
        if self._must_start_watch:
            return min(self._scan_every, _SCAN_WITHOUT_A_WATCH)
        return self._scan_every

    async def _start_watch(self) -> None:
        """Start or restart the watch; where refused, files are compared each minute."""
        # Before it begins: from then on it may say that it wants to begin anew.
        self._must_start_watch = False
        start = partial(self.background.attempt_in_thread, WATCH, self._watch.start)
        refused = await to_thread.run_sync(start)
        if isinstance(refused, Failure):
            self._must_start_watch = True
            return
        if refused:
            _log.warning("%s", refused)
            # Where `channels/` was moved away, it may come back.
            self._must_start_watch = not presence.is_folder(self.store.channels_folder)
        self._scan_every = _SCAN_WITHOUT_A_WATCH if refused else _SCAN_EVERY

    async def _schedule_changed(self) -> str:
        """Schedule new and changed channels, and drop those that are gone.

        Returns a folder whose change the watch has not told of, empty where there is none.
        """
        found = await to_thread.run_sync(
            lambda: dict(schedule.channel_stamps(self.store.channels_folder))
        )
        async with self._writing:
            gone = self._schedule.visits.keys() - found.keys()
            for folder in gone:
                self.scheduler.remove(folder)
                self._schedule.note(folder, None)
            await to_thread.run_sync(self._schedule.write)
        now = self.clock.wall().timestamp()
        unknown: list[tuple[float, str]] = []
        missed = ""
        for folder, stamps in found.items():
            scheduled = self._schedule.visits.get(folder)
            if scheduled is None:
                unknown.append((stamps.changed, folder))
            elif self.scheduler.is_running(folder):
                continue  # it will say itself when it is due again
            elif scheduled.mark not in ("", stamps.mark):
                missed = folder if self._is_missed(folder, stamps, now) else missed
                self.scheduler.expect(folder, self._seconds_until_quiet(stamps, now))
            elif scheduled.due is not None:
                # Known to the scheduler but at the start; said again, since a machine that slept
                # has another clock.
                self.scheduler.expect(folder, (scheduled.due - self.clock.now()).total_seconds())
        for place, (_, folder) in enumerate(sorted(unknown, reverse=True)):
            self.scheduler.expect(
                folder, max(self._seconds_until_quiet(found[folder], now), place * _PACE)
            )
        return missed

    def _is_missed(self, folder: str, stamps: ChannelStamp, now: float) -> bool:
        """Whether the watch should have told of a change by now and has not."""
        is_old = stamps.changed < now - _LONGEST_UNTOLD
        return is_old and not self.scheduler.is_pending(folder)

    def _seconds_until_quiet(self, stamps: ChannelStamp, now: float) -> float:
        return min(stamps.changed - now, 0.0) + self.idle_seconds

    def has_news(self, folder: str, stamps: ChannelStamp) -> bool:
        """Return whether the files of a channel changed since its last visit."""
        scheduled = self._schedule.visits.get(folder)
        return scheduled is not None and scheduled.mark not in ("", stamps.mark)

    def _change_listener(self, token: EventLoopToken) -> Callable[[str | None], None]:
        cancelled = anyio.get_cancelled_exc_class()

        def listener(folder: str | None) -> None:
            """Called from the watch's threads; raises what `_on_change` raises.

            Does nothing once the event loop has ended.
            """
            error: RuntimeError | None = None
            with suppress(RuntimeError, CancelledError, cancelled):
                error = from_thread.run_sync(self._error_on_change, folder, token=token)
            if error is not None:
                raise error

        return listener

    def _error_on_change(self, folder: str | None) -> RuntimeError | None:
        """Return the error that could be taken for the end of the event loop; others are raised."""
        try:
            self._on_change(folder)
        except RuntimeError as error:
            return error
        return None

    def _on_change(self, folder: str | None) -> None:
        if folder is None:
            self._must_start_watch = True
            self.scheduler.expect(SCAN, _SCAN_AFTER_A_LOSS)
        elif self.scheduler.is_running(folder):
            # Changed by whom, only the end of the look can tell.
            self._changed_while_running.add(folder)
        else:
            self._compare(folder)

    def _compare(self, folder: str) -> None:
        """A channel whose stamps are not those of our last look is due once it is quiet."""
        scheduled = self._schedule.visits.get(folder)
        if scheduled is None or scheduled.mark != self.stamp(folder).mark:
            self.scheduler.touch(folder, self.idle_seconds)
