"""When each channel of a workspace is next due, by the stamps of its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from pipimem.store.disk import appended_files
from pipimem.store.disk.appended_files import append
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import make_folder, store_errors
from pipimem.text import json_lines

_FORMAT = 1
# Every file that can make a channel due: what was said, what was committed, what people edit.
STAMPED = ("log.jsonl", ".pipimem/state.db", "MEMORY.md", "HISTORY.md")
# Lines that newer ones have replaced, before the file is written anew.
_MAX_STALE_LINES = 1_000


class ScheduledVisit(Struct, frozen=True):
    """A channel's next due time, `None` for none by the clock alone, and its files' mark then.

    With an empty mark work on it had begun and did not end.
    """

    due: datetime | None
    mark: str


class ChannelStamp(Struct, frozen=True):
    """A mark that changes with any file of a channel, and the time of the newest (Unix seconds)."""

    mark: str
    changed: float


@dataclass(slots=True)
class Schedule:
    """`.pipimem/idle.jsonl`: one line a change, the newest of a channel counts.

    A cache: without it every channel is looked at once. Only the process with the leader lock
    writes it.
    """

    path: Path
    visits: dict[str, ScheduledVisit] = field(default_factory=dict)
    _lines: int = 0

    @classmethod
    def load(cls, path: Path) -> Schedule:
        """Reads the file; damaged lines are passed over, another format counts as empty."""
        schedule = cls(path)
        for data in appended_files.lines(path):
            schedule._lines += 1
            match json_lines.value(data):
                case {"format": version} if version != _FORMAT:
                    return cls(path)  # written anew with the first change
                case {"folder": str(folder), "gone": True}:
                    schedule.visits.pop(folder, None)
                case {"folder": str(folder), "due": str(due), "mark": str(mark)}:
                    schedule.visits[folder] = ScheduledVisit(_time(due), mark)
        return schedule

    def note(self, folder: str, visit: ScheduledVisit) -> None:
        """Writes a visit, unless it is the one that stands."""
        if self.visits.get(folder) != visit:
            self.visits[folder] = visit
            self._write(_line(folder, visit))

    def strike(self, folder: str) -> None:
        """Removes a channel whose folder is gone."""
        if self.visits.pop(folder, None) is not None:
            self._write(json_lines.line({"folder": folder, "gone": True}))

    def _write(self, line: bytes) -> None:
        """Adds a line, or writes the whole anew when most lines are stale.

        Not synced: it can be found out again.
        """
        make_folder(self.path.parent)
        self._lines += 1
        if self._lines == 1 or self._lines > 2 * len(self.visits) + _MAX_STALE_LINES:
            lines = [
                json_lines.line({"format": _FORMAT}),
                *(_line(*item) for item in self.visits.items()),
            ]
            put_whole(self.path, b"".join(lines))
            self._lines = len(lines)
            return
        append(self.path, line)


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


def _line(folder: str, visit: ScheduledVisit) -> bytes:
    due = visit.due.isoformat(timespec="seconds") if visit.due else ""
    return json_lines.line({"folder": folder, "due": due, "mark": visit.mark})


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone() if text else None
    except (ValueError, OverflowError):  # the year 1 has no local time
        return None
