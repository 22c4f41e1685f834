"""When each channel of a workspace is next due, by the stamps of its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from pipimem.errors import DamagedState
from pipimem.state import schedule
from pipimem.state.schedule import ScheduledVisit
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.workspace_state import WorkspaceState

# Every file that can make a channel due: what was said, what was committed, what people edit.
STAMPED = ("log.jsonl", "MEMORY.md", "HISTORY.md")


class ChannelStamp(Struct, frozen=True):
    """A mark that changes with any file of a channel, and the time of the newest (Unix seconds)."""

    mark: str
    changed: float


@dataclass(slots=True)
class Schedule:
    """The next due time of each channel, by the name of its folder.

    A cache: without it every channel is looked at once. Only the process with the leader lock
    writes it.
    """

    state: WorkspaceState
    visits: dict[str, ScheduledVisit] = field(default_factory=dict)
    _unwritten: dict[str, ScheduledVisit | None] = field(default_factory=dict)

    @classmethod
    def load(cls, state: WorkspaceState) -> Schedule:
        """Read the schedule; a damaged database counts as empty."""
        try:
            with state.reading() as rows:
                return cls(state, {} if rows is None else schedule.visits(rows))
        except DamagedState:
            return cls(state)

    def note(self, folder: str, visit: ScheduledVisit | None) -> None:
        """Note the visit of a channel, `None` for a channel that is gone, for the next `write`."""
        if self.visits.get(folder) == visit:
            return
        self._unwritten[folder] = visit
        if visit is None:
            del self.visits[folder]
        else:
            self.visits[folder] = visit

    def write(self) -> None:
        """Write in one transaction what was noted. Where the disk refuses it is tried again."""
        if self._unwritten:
            written = dict(self._unwritten)
            with self.state.writing() as rows:
                schedule.put_visits(rows, written)
            for folder, visit in written.items():
                if self._unwritten.get(folder) == visit:
                    del self._unwritten[folder]


def channel_stamps(channels: Path) -> Iterator[tuple[str, ChannelStamp]]:
    """Every folder below `channels/` by its name, and how its files stand."""
    with store_errors("read", channels):
        try:
            entries = list(os.scandir(channels))
        except FileNotFoundError:
            return
    for entry in entries:
        if entry.is_dir():
            yield entry.name, channel_stamp(entry.path)


def channel_stamp(folder: Path | str, files: Iterable[str] = STAMPED) -> ChannelStamp:
    """How the files of a channel's folder stand: a few `stat` calls, no file is opened."""
    stamps: list[tuple[int, int, int]] = []
    for name in files:
        try:
            # For each of 20,000 channels: a Path would double the time.
            status = os.stat(f"{folder}/{name}")  # noqa: PTH116 - see above
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
    mark = blake2b(repr(stamps).encode(), digest_size=8).hexdigest()
    return ChannelStamp(mark, max(stamps)[0] / 1e9)
