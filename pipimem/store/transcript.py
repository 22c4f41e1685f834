"""The transcript of a channel: `log.jsonl`, every message in its order, appended to and never rewritten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from pipimem.notes.message import Message, Role
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import append_synced, reading, sync_folder, told
from pipimem.store.disk.files import Stamp, stamp
from pipimem.store.disk.lock import FolderLock

_NAME = "log.jsonl"
_PART = re.compile(r"log-(\d{4,})\.jsonl")
# Small enough to open in an editor, large enough that most channels never rotate.
_ROTATE_AT = 8 * 1024 * 1024
_ROLES = frozenset(get_args(Role))
# A line begins with id and number, so that neither needs the rest of it. Blanks after : and , as hands write
# them.
_HEAD = re.compile(rb'^\{"id": ?("(?:[^"\\]|\\.)*"), ?"n": ?(\d{1,15})\b', re.MULTILINE)
# `datetime` ends at the years 1 and 9999; a few days more or less must not step over.
YEARS = range(100, 9900)
# Halving stops here: one read shows it all.
_NEAR = 64 * 1024
# The stamp of no file, and not None either: that a file is absent is something seen.
_NEVER: Stamp = (-1, -1, -1)


@dataclass(slots=True)
class Transcript:
    """The messages of one channel's folder; appending takes the channel's lock, reading takes none."""

    folder: Path
    lock: FolderLock
    _ids: set[str] | None = None
    _last: int = 0
    # The stamp of log.jsonl when `_last` was found out.
    _seen: Stamp | None = _NEVER
    # The byte up to which `_ids` holds, and the line that ends there: while it does, the file has only grown.
    _known_upto: int = 0
    _known_line: bytes = b""

    @property
    def path(self) -> Path:
        """The part that is appended to."""
        return self.folder / _NAME

    @property
    def last_number(self) -> int:
        """The number of the newest message, 0 before the first; a `stat` where nothing was added."""
        found = stamp(self.path)
        if found != self._seen:
            self._last, self._ids, self._seen = self._newest(), None, found
        return self._last

    def append(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Adds the messages whose id is not known yet, numbered, in one synced write; answers with those.

        A message without an id gets `m<number>`. Returned means durable. After a failure nothing of them is
        there.
        """
        messages = tuple(messages)
        if not messages:
            return ()
        with self.lock.held():
            self._mend()
            ids = self._known()
            added: list[Message] = []
            for message in messages:
                if not message.id or message.id not in ids:
                    added.append(_stored(message, self._last + len(added) + 1, ids))
                    ids.add(added[-1].id)
            if added:
                self._write(added)
            return tuple(added)

    def messages(self) -> Iterator[Message]:
        """All messages, oldest first; lines that are none are passed over."""
        return self.window(0)

    def window(self, after: int, upto: int | None = None) -> Iterator[Message]:
        """The messages with `after < number <= upto`; what lies before them is not read."""
        parts = self.parts()
        first = _part_holding(parts, after + 1)
        for index, part in enumerate(parts[first:]):
            start = _offset_of(part, after + 1) if index == 0 and after else 0
            for data in jsonlines.lines(part, start):
                message = parsed(data)
                if message is None or message.number <= after:
                    continue
                if upto is not None and message.number > upto:
                    return
                yield message

    def damaged(self) -> int:
        """How many lines are no message; for `doctor`, it reads everything."""
        return sum(parsed(data) is None for part in self.parts() for data in jsonlines.lines(part) if data.strip())

    def parts(self) -> list[Path]:
        """The files of the transcript, oldest first."""
        with told("read", self.folder):
            try:
                found = [(int(part[1]), path) for path in self.folder.iterdir() if (part := _PART.fullmatch(path.name))]
            except FileNotFoundError:
                return []
            parts = [path for _, path in sorted(found)]
            return [*parts, self.path] if self.path.exists() else parts

    def forgets(self) -> None:
        """What is held in memory no longer fits the files: they were rewritten."""
        self._ids, self._seen = None, _NEVER

    def _newest(self) -> int:
        return next((number for part in reversed(self.parts()) if (number := _last_number(part))), 0)

    def _known(self) -> set[str]:
        """The ids in all parts; read once, later only what other processes added."""
        found = stamp(self.path)
        if self._ids is None or (found != self._seen and not self._has_only_grown()):
            self._last = self._newest()
            self._ids, self._known_upto, self._known_line = set(), 0, b""
            for part in self.parts():
                self._take_in(part, 0)
        elif found != self._seen:
            self._take_in(self.path, self._known_upto)
        self._seen = found
        return self._ids

    def _has_only_grown(self) -> bool:
        """Whether the last line that was read still stands where it stood: its id and number stand nowhere else."""
        start = self._known_upto - len(self._known_line)
        return next(jsonlines.lines(self.path, start), None) == self._known_line

    def _take_in(self, part: Path, start: int) -> None:
        assert self._ids is not None
        with told("read", part), reading(part) as file:
            file.seek(start)
            data = file.read()
        for found in _HEAD.finditer(data):
            self._ids.add(_id(found[1]))
            self._last = max(self._last, int(found[2]))
        if data:
            self._known_upto = start + len(data)
            self._known_line = data[data.rfind(b"\n", 0, -1) + 1 :]

    def _mend(self) -> None:
        """Cuts back a last line that a crash tore; one that only lacks its ending gets it."""
        if (size := _size(self.path)) <= 0:
            return
        start = _last_line_start(self.path, size)
        last = next(jsonlines.lines(self.path, start))
        if last.endswith(b"\n"):
            return
        if parsed(last):
            append_synced(self.path, b"\n")
        else:
            append_synced(self.path, b"", at=start)

    def _write(self, added: list[Message]) -> None:
        fresh = not self.path.exists()
        if not fresh and self.path.stat().st_size > _ROTATE_AT:
            self._rotate()
            fresh = True
        lines = [line(message) for message in added]
        try:
            self._known_upto, self._known_line = append_synced(self.path, b"".join(lines)), lines[-1]
            if fresh:
                sync_folder(self.folder)
        except BaseException:
            self.forgets()
            raise
        self._last = added[-1].number
        self._seen = stamp(self.path)

    def _rotate(self) -> None:
        taken = [int(part[1]) for path in self.parts() if (part := _PART.fullmatch(path.name))]
        with told("rotate", self.path):
            self.path.rename(self.folder / f"log-{max(taken, default=0) + 1:04d}.jsonl")


def line(message: Message) -> bytes:
    """A message as its line; `id` and `n` come first, the scans rely on it."""
    value: dict[str, object] = {
        "id": message.id,
        "n": message.number,
        "ts": message.time.isoformat(timespec="seconds") if message.time else "",
        "role": message.role,
        "name": message.speaker,
        "content": message.content,
    }
    if message.session:
        value["session"] = message.session
    return jsonlines.line(value)


def parsed(data: bytes) -> Message | None:
    """The message on a line, `None` where it is none."""
    match jsonlines.value(data):
        case {"id": str(name), "n": int(number), "role": str(role), "content": str(content), **rest} if (
            number > 0 and role in _ROLES
        ):
            return Message(
                role=role,  # type: ignore[arg-type]  # one of `_ROLES`, as just checked
                content=content,
                id=name,
                time=_time(rest.get("ts")),
                speaker=str(rest.get("name") or ""),
                session=str(rest.get("session") or ""),
                number=number,
            )
    return None


def _stored(message: Message, number: int, ids: set[str]) -> Message:
    """The message as reading it back will give it."""
    name = message.id or f"m{number}"
    while not message.id and name in ids:
        name += "+"  # a platform's own id looks like ours
    time = message.time and _usable(message.time)
    return replace(message, id=name, number=number, time=time and time.replace(microsecond=0))


def _time(value: object) -> datetime | None:
    try:
        return _usable(datetime.fromisoformat(str(value))) if value else None
    except ValueError:
        return None


def _usable(time: datetime) -> datetime | None:
    """The time with its offset, the local one where it has none; `None` for years no clock shows and no sum survives."""
    if time.year not in YEARS:
        return None
    return time if time.tzinfo else time.astimezone()


def _id(quoted: bytes) -> str:
    return str(json.loads(quoted)) if b"\\" in quoted else quoted[1:-1].decode("utf-8", "replace")


def _size(path: Path) -> int:
    found = stamp(path)
    return found[1] if found else 0


def _last_line_start(path: Path, end: int) -> int:
    """Where the line before byte `end` starts; a line ending right at `end` is that line."""
    with told("read", path), reading(path) as file:
        high = end - 1
        while high > 0:
            low = max(0, high - _NEAR)
            file.seek(low)
            if (found := file.read(high - low).rfind(b"\n")) >= 0:
                return low + found + 1
            high = low
    return 0


def _last_number(path: Path) -> int:
    """The number of the last good line of a part, 0 where there is none."""
    # A torn end may begin like a message.
    for data in jsonlines.lines_backwards(path):
        if found := parsed(data):
            return found.number
    return 0


def _part_holding(parts: list[Path], number: int) -> int:
    """The index of the part where a message with this number, or the next one, stands."""
    held = [index for index, part in enumerate(parts) if index == 0 or 0 < _first_number(part) <= number]
    return held[-1] if held else 0


def _first_number(path: Path) -> int:
    for data in jsonlines.lines(path):
        if found := _HEAD.match(data):
            return int(found[2])
    return 0


def _offset_of(path: Path, number: int) -> int:
    """A byte where a line starts, at or before the line of this number, by halving the file."""
    low, high = 0, _size(path)
    with told("read", path), reading(path) as file:
        while high - low > _NEAR:
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()  # the rest of a line
            start, found = file.tell(), None
            while found is None and (data := file.readline()):
                found = _HEAD.match(data)
            if found is not None and int(found[2]) <= number and start < high:
                low = start
            else:
                high = middle
    return low
