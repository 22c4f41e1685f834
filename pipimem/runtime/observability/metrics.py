"""The metrics of one process on one workspace, as the text that Prometheus reads."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from msgspec import Struct

from pipimem import __version__
from pipimem.errors import PipimemError
from pipimem.llm.usage_state import Budget, UsageState, ended_at, midnight
from pipimem.notes.usage import Usage, UsageCursor
from pipimem.observer import Operation
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.metric_names import (
    Histogram,
    Labels,
    Metric,
    Samples,
    Value,
    rendered,
)
from pipimem.runtime.observability.readiness import Readiness
from pipimem.settings import BudgetSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import channel_stamps
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem


# Seconds: a recall takes milliseconds, a model minutes.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
# There from the beginning: Prometheus sees no increase in what comes to be with its first count.
_COUNTED = {
    "turn": ("ok", "silent", "error"),
    "compaction": ("consolidated", "deferred", "blocked", "failed", "error"),
    "commit": ("ok", "error"),
    "search": ("ok", "error"),
}
_JOBS = ("consolidate", "refresh", "history", "expire", "tidy", "fold")


class OperationMetrics:
    """`Observer` that counts; it may be told and asked in any thread."""

    wants_content = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[Labels] = Counter()
        for kind, outcomes in _COUNTED.items():
            self._ended.update({(kind, outcome): 0 for outcome in outcomes})
        self._jobs: Counter[Labels] = Counter(
            {(task, outcome): 0 for task in _JOBS for outcome in ("ok", "failed")}
        )
        self._durations: dict[Labels, Histogram] = {}

    def begin(self, operation: Operation) -> None:
        """Nothing is counted before the end."""

    def end(self, operation: Operation, begun: object) -> None:  # noqa: ARG002 - the protocol's
        """Count it."""
        kind = operation.kind
        with self._lock:
            self._ended[kind, operation.outcome] += 1
            if kind == "job":
                self._jobs[operation.task, operation.outcome] += 1
            if (kind,) not in self._durations:
                self._durations[kind,] = Histogram(BOUNDS)
            self._durations[kind,].observe(operation.seconds)

    def families(self) -> list[tuple[Metric, Samples]]:
        """The metrics as they stand."""
        with self._lock:
            return [
                (names.OPERATIONS, dict(self._ended)),
                (names.DURATION, deepcopy(self._durations)),
                (names.JOBS, dict(self._jobs)),
            ]


_PROC = Path("/proc/self")
# In /proc/self/stat behind the name in brackets: when it began, in ticks since the system did.
_START_FIELD = 19


def measure_process(proc: Path = _PROC) -> list[tuple[Metric, Samples]]:
    """Return processor time, memory, open files, and when the process began."""
    figures: list[tuple[Metric, Samples]] = [(names.PROCESS_CPU, {(): time.process_time()})]
    try:
        pages = int((proc / "statm").read_text("ascii").split()[1])
        ticks = int((proc / "stat").read_text("utf-8").rpartition(")")[2].split()[_START_FIELD])
        uptime = float((proc.parent / "uptime").read_text("ascii").split()[0])
        files = len(os.listdir(proc / "fd"))  # noqa: PTH208 - names alone
    except (OSError, ValueError, IndexError):
        return figures
    began = time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")
    return [
        *figures,
        (names.PROCESS_MEMORY, {(): pages * os.sysconf("SC_PAGE_SIZE")}),
        (names.PROCESS_FILES, {(): files}),
        (names.PROCESS_START, {(): round(began, 2)}),
    ]


# Seconds.
_BOUNDS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)


class LedgerMetrics:
    """The ledger's lines since `began`, each read once; for one thread at a time."""

    def __init__(
        self,
        workspace: WorkspaceStore,
        settings: BudgetSettings,
        began: datetime,
        *,
        channel_ids: bool = False,
    ) -> None:
        self._workspace, self._settings, self._began = workspace, settings, began
        self._channel_ids = channel_ids
        self._read_anew(began)

    def _read_anew(self, now: datetime) -> None:
        # Today's budgets count what was used before this process began; counters begin with it.
        self._cursor = UsageCursor(midnight(self._began))
        self._state = UsageState(self._settings, now.date())
        self._calls: Counter[Labels] = Counter()
        self._tokens: Counter[Labels] = Counter()
        self._unpriced: Counter[Labels] = Counter()
        self._dollars: dict[Labels, float] = {}
        self._durations: dict[Labels, Histogram] = {}

    def families(self, now: datetime) -> list[tuple[Metric, Samples]]:
        """The metrics as they stand. Raises `StoreError` where the ledger cannot be read."""
        ledger = self._workspace.usage_store
        fresh = ledger.fresh(self._cursor)
        if fresh is None:  # the database is another one than before
            self._read_anew(now)
            fresh = ledger.fresh(self._cursor)
        self._state.start_day(now)
        for usage in fresh or ():
            self._state.count(usage, now)
            if ended_at(usage, now) >= self._began.replace(microsecond=0):
                self._count(usage)
        held = tuple(ledger.held().values())
        budget, _ = self._state.budgets("", held)
        return [
            (names.CALLS, self._calls),
            (names.CALL_DURATION, self._durations),
            (names.TOKENS, self._tokens),
            (names.COST, self._dollars),
            (names.UNPRICED, self._unpriced),
            (names.IN_PROGRESS, {(): len(held)}),
            (names.BUDGET, _ratios(budget)),
            (names.BREAKER, self._breakers(now)),
            (names.CHANNEL_BUDGET, self._channel_ratios()),
        ]

    def _count(self, usage: Usage) -> None:
        model = usage.model
        self._calls[model, usage.task, usage.outcome] += 1
        self._tokens[model, "input"] += usage.tokens_in + usage.estimated_in
        self._tokens[model, "output"] += usage.tokens_out + usage.estimated_out
        self._tokens[model, "cached"] += usage.tokens_cached
        self._dollars[model,] = self._dollars.get((model,), 0.0) + usage.dollars
        self._unpriced[model,] += usage.unpriced
        if (model,) not in self._durations:
            self._durations[model,] = Histogram(_BOUNDS)
        self._durations[model,].observe(usage.latency)

    def _breakers(self, now: datetime) -> Samples:
        return {
            (circuit,): float(state.open_at(now)) for circuit, state in self._state.circuits.items()
        }

    def _channel_ratios(self) -> Samples:
        if not self._channel_ids:
            return {}
        channels: Iterable[str] = filter(None, self._state.channels)
        return {(name,): self._state.budgets(name)[1].share for name in channels}


def _ratios(budget: Budget) -> Samples:
    """The shares of tokens and dollars that are used, where there is a limit."""
    spent, limit = budget.spent, budget.limit
    pairs = {"tokens": (spent.tokens, limit.tokens), "dollars": (spent.dollars, limit.dollars)}
    return {
        (unit,): used / most if most else 1.0 for unit, (used, most) in pairs.items() if most != inf
    }


class _Seen(Struct, frozen=True):
    """What was read of a channel when its files had this `mark`; no id for what is no channel.

    `changed` is when the newest of them was written, in Unix seconds.
    """

    mark: str
    changed: float
    id: str = ""
    messages: int = 0
    backlog: int = 0
    holes: int = 0
    failing: tuple[str, ...] = ()
    is_readable: bool = True


@dataclass(slots=True)
class ChannelScan:
    """Figures of all channels, for one thread at a time; with `channel_ids` also of each."""

    workspace: WorkspaceStore
    channel_ids: bool = False
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _unread: int = 0

    def advance(self, seconds: float) -> None:
        """Look at what changed since the last time, for so many seconds at most.

        What is left is looked at next time. Raises `StoreError` where `channels/` cannot be read.
        """
        until = time.perf_counter() + seconds
        stamps = dict(channel_stamps(self.workspace.channels_folder))
        self._seen = {name: seen for name, seen in self._seen.items() if name in stamps}
        changed = [
            name
            for name, stamp in stamps.items()
            if name not in self._seen or self._seen[name].mark != stamp.mark
        ]
        self._unread = len(changed)
        for name in changed:
            if time.perf_counter() >= until:
                return
            self._seen[name] = self._read(name, stamps[name].mark, stamps[name].changed)
            self._unread -= 1

    def _read(self, folder: str, mark: str, changed: float) -> _Seen:
        try:
            info = self.workspace.channel_in(folder)
            if info is None:
                return _Seen(mark, changed)
            store = ChannelStore.open(self.workspace, info.id, create=False)
            ledger, last = store.ledger, store.transcript.last_number
        except (PipimemError, OSError):
            return _Seen(mark, changed, folder, is_readable=False)
        failing = tuple(task for task, job in ledger.jobs.items() if job.failures)
        backlog = max(0, last - ledger.cursor)
        return _Seen(mark, changed, info.id, last, backlog, len(ledger.holes), failing)

    def families(self, now: float) -> list[tuple[Metric, Samples]]:
        """The metrics by what was read; `now` is in Unix seconds."""
        channels = [seen for seen in self._seen.values() if seen.id]
        failing: Counter[Labels] = Counter()
        for seen in channels:
            failing.update((task,) for task in seen.failing)
        sums = self._sums(channels, now)
        whole: list[tuple[Metric, Samples]] = [(metric, {(): sums[metric]}) for metric in sums]
        by_channel: dict[Labels, Value] = {}
        if self.channel_ids:
            by_channel = {(seen.id,): seen.backlog for seen in channels}
        return [*whole, (names.FAILING, failing), (names.CHANNEL_BACKLOG, by_channel)]

    def _sums(self, channels: Sequence[_Seen], now: float) -> Mapping[Metric, float]:
        behind = [seen for seen in channels if seen.backlog]
        return {
            names.CHANNELS: len(channels),
            names.UNREAD: self._unread,
            names.UNREADABLE: sum(not seen.is_readable for seen in channels),
            names.MESSAGES: sum(seen.messages for seen in channels),
            names.BACKLOG: sum(seen.backlog for seen in behind),
            names.BACKLOG_CHANNELS: len(behind),
            names.BACKLOG_QUIET: max((now - seen.changed for seen in behind), default=0.0),
            names.SET_ASIDE: sum(seen.holes for seen in channels),
        }


# Prometheus waits 10 s; channels that are left are read at the next scrape.
_SCAN_SECONDS = 2.0


class Metrics:
    """Counts what a `Pipimem` does from here on, and reads what the workspace keeps when asked."""

    def __init__(self, pipimem: Pipimem, readiness: Readiness | None = None) -> None:
        self._pipimem = pipimem
        self.readiness = readiness or Readiness(pipimem)
        channel_ids = pipimem.settings.observability.channel_ids
        self._operations = OperationMetrics()
        pipimem.add_observer(self._operations)
        self._ledger = LedgerMetrics(
            pipimem.store, pipimem.settings.budget, pipimem.clock.wall(), channel_ids=channel_ids
        )
        self._scan = ChannelScan(pipimem.store, channel_ids)
        self._reading = anyio.Lock()

    async def text(self) -> str:
        """All metrics in Prometheus' text format.

        What cannot be read is left out, and `pipimem_ready` is 0 then.
        """
        async with self._reading:
            return await to_thread.run_sync(self._text)

    def _text(self) -> str:
        began, pipimem = time.perf_counter(), self._pipimem
        families: list[tuple[Metric, Samples]] = [
            (names.INFO, {(__version__,): 1}),
            (names.READY, {(): 0 if self.readiness.problem() else 1}),
            (names.LEADER, {(): float(pipimem.does_idle_work)}),
            *self._operations.families(),
        ]
        try:
            families += self._ledger.families(pipimem.clock.wall())
            self._scan.advance(_SCAN_SECONDS)
            families += self._scan.families(time.time())
            families += self._of_files()
        except (PipimemError, OSError):
            pass  # the readiness has said so, and the others are worth having
        families += measure_process()
        families.append((names.SCRAPE, {(): round(time.perf_counter() - began, 6)}))
        return rendered(families)

    def _of_files(self) -> list[tuple[Metric, Samples]]:
        store = self._pipimem.store
        failing: Counter[Labels] = Counter((problem.job,) for _, problem in store.failing())
        disk = os.statvfs(store.root)
        return [
            (names.PROBLEMS, failing),
            (names.DISK_FREE, {(): disk.f_bavail * disk.f_frsize}),
        ]
