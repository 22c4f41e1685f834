"""What waits in all channels of a workspace; a channel is read again only if its files changed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipimem.errors import PipimemError
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.exposition import Labels, Metric, Samples, Value
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import channel_stamps
from pipimem.store.workspace import WorkspaceStore


@dataclass(frozen=True, slots=True)
class _Seen:
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
