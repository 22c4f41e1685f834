"""The agenda of a workspace: when each channel is next due, and the file stamps that this rests on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import append, make_folder, told
from pipimem.store.disk.files import put_whole

_FORMAT = 1
# Every file that can make a channel due: what was said, what was committed, what people edit.
STAMPED = ("log.jsonl", ".pipimem/journal.jsonl", "MEMORY.md", "HISTORY.md")
# Lines that newer ones have replaced, before the file is written anew.
_SLACK = 1_000


@dataclass(frozen=True, slots=True)
class Appointment:
    """A channel's next due time, `None` for none by the clock alone, and its mark when that was found out.

    An empty mark: work on it had begun and was not ended.
    """

    due: datetime | None
    mark: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a channel's files stand: a mark that changes with any of them, and the time of the newest (Unix seconds)."""

    mark: str
    changed: float


@dataclass(slots=True)
class Agenda:
    """`.pipimem/idle.jsonl`: one line a change, the newest of a channel counts.

    A cache: without it every channel is looked at once. Only the process that has the duty writes it.
    """

    path: Path
    appointments: dict[str, Appointment] = field(default_factory=dict)
    _lines: int = 0

    @classmethod
    def load(cls, path: Path) -> Agenda:
        """The agenda in a file; lines that are not understood are passed over, another format is no agenda."""
        agenda = cls(path)
        for data in jsonlines.lines(path):
            agenda._lines += 1
            match jsonlines.value(data):
                case {"format": version} if version != _FORMAT:
                    return cls(path)  # written anew with the first change
                case {"folder": str(folder), "gone": True}:
                    agenda.appointments.pop(folder, None)
                case {"folder": str(folder), "due": str(due), "mark": str(mark)}:
                    agenda.appointments[folder] = Appointment(_time(due), mark)
        return agenda

    def note(self, folder: str, appointment: Appointment) -> None:
        """Keeps an appointment; one that stands already costs nothing."""
        if self.appointments.get(folder) != appointment:
            self.appointments[folder] = appointment
            self._write(_line(folder, appointment))

    def strike(self, folder: str) -> None:
        """Forgets a channel whose folder is gone."""
        if self.appointments.pop(folder, None) is not None:
            self._write(jsonlines.line({"folder": folder, "gone": True}))

    def _write(self, line: bytes) -> None:
        """Adds a line, or writes the whole anew when most lines are stale.

        Not synced: it can be found out again.
        """
        make_folder(self.path.parent)
        self._lines += 1
        if self._lines == 1 or self._lines > 2 * len(self.appointments) + _SLACK:
            lines = [
                jsonlines.line({"format": _FORMAT}),
                *(_line(*item) for item in self.appointments.items()),
            ]
            put_whole(self.path, b"".join(lines))
            self._lines = len(lines)
            return
        append(self.path, line)


def looks(channels: Path) -> Iterator[tuple[str, Look]]:
    """Every folder below `channels/` by its name, and how its files stand."""
    with told("read", channels):
        try:
            entries = list(os.scandir(channels))
        except FileNotFoundError:
            return
    for entry in entries:
        if entry.is_dir():
            yield entry.name, looked(entry.path)


def looked(folder: Path | str) -> Look:
    """How the files of a channel's folder stand: a few `stat` calls, no file is opened."""
    stamps: list[tuple[int, int, int]] = []
    for name in STAMPED:
        try:
            status = os.stat(f"{folder}/{name}")  # noqa: PTH116 - four for each of 20,000 channels; a Path doubles it
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
    mark = blake2b(repr(stamps).encode(), digest_size=8).hexdigest()
    return Look(mark, max(stamps)[0] / 1e9)


def _line(folder: str, appointment: Appointment) -> bytes:
    due = appointment.due.isoformat(timespec="seconds") if appointment.due else ""
    return jsonlines.line({"folder": folder, "due": due, "mark": appointment.mark})


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone() if text else None
    except (ValueError, OverflowError):  # the year 1 has no local time
        return None
