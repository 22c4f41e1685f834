"""The transcript of a channel: `log.jsonl`, every message in its order, appended to and never rewritten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from pipimem.notes.message import Message, Role
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import append_synced, reading, sync_folder, told
from pipimem.store.disk.files import NEVER, Stamp, stamp
from pipimem.store.disk.known_prefix import KnownPrefix
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


@dataclass(slots=True)
class Transcript:
    """The messages of one channel's folder; appending takes the channel's lock, reading takes none."""

    folder: Path
    lock: FolderLock
    _ids: set[str] | None = None
    _last: int = 0
    # The stamp of log.jsonl when `_last` was found out.
    _seen: Stamp | None = NEVER
    # What `_ids` was read from, a prefix for each part, and the greatest number in them.
    _prefixes: list[KnownPrefix] = field(default_factory=list)
    _greatest: int = 0

    @property
    def path(self) -> Path:
        """The part that is appended to."""
        return self.folder / _NAME

    @property
    def last_number(self) -> int:
        """The number of the newest message, 0 before the first; a `stat` where nothing was added."""
        found = stamp(self.path)
        if found != self._seen:
            self._last, self._seen = self._newest(), found
        return self._last

    def append(self, messages: Iterable[Message], after: int = 0) -> tuple[Message, ...]:
        """Adds the messages whose id is not known yet, numbered, in one synced write; answers with those.

        Their numbers are greater than the newest one and than `after`. A message without an id gets `m<number>`.
        Returned means durable. After a failure nothing of them is there.
        """
        messages = tuple(messages)
        if not messages:
            return ()
        with self.lock.held():
            self._mend()
            ids = self._known()
            first = max(self._last, after) + 1
            added: list[Message] = []
            for message in messages:
                if not message.id or message.id not in ids:
                    added.append(_stored(message, first + len(added), ids))
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
        return sum(
            parsed(data) is None
            for part in self.parts()
            for data in jsonlines.lines(part)
            if data.strip()
        )

    def parts(self) -> list[Path]:
        """The files of the transcript, oldest first."""
        with told("read", self.folder):
            try:
                found = [
                    (int(part[1]), path)
                    for path in self.folder.iterdir()
                    if (part := _PART.fullmatch(path.name))
                ]
            except FileNotFoundError:
                return []
            parts = [path for _, path in sorted(found)]
            return [*parts, self.path] if self.path.exists() else parts

    def forgets(self) -> None:
        """What is held in memory no longer fits the files: they were rewritten."""
        self._ids, self._seen = None, NEVER

    def _newest(self) -> int:
        return next(
            (number for part in reversed(self.parts()) if (number := _last_number(part))), 0
        )

    def _known(self) -> set[str]:
        """The ids in all parts; read once, later only what other processes added.

        Parts keep their order for ever: a rotation renames the last one and begins another.
        """
        parts = self.parts()
        if self._ids is None or not self._still_stand(parts):
            self._ids, self._greatest, self._prefixes = set(), self._newest(), []
        for number, part in enumerate(parts):
            if number == len(self._prefixes):
                self._prefixes.append(KnownPrefix())
            self._take_in(part, self._prefixes[number], self._ids)
        self._last, self._seen = self._greatest, stamp(self.path)
        return self._ids

    def _still_stand(self, parts: list[Path]) -> bool:
        """Whether what was read of each part stands where it stood."""
        if len(parts) < len(self._prefixes):
            return False
        return all(
            prefix.still_stands(part) for prefix, part in zip(self._prefixes, parts, strict=False)
        )

    def _take_in(self, part: Path, prefix: KnownPrefix, ids: set[str]) -> None:
        found = stamp(part)
        if found == prefix.stamp and found is not None and found[1] == prefix.end:
            return
        with told("read", part), reading(part) as file:
            file.seek(prefix.end)
            data = file.read()
        for head in _HEAD.finditer(data):
            ids.add(_id(head[1]))
            self._greatest = max(self._greatest, int(head[2]))
        prefix.take(data)
        prefix.stamp = found

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
        lines = b"".join(line(message) for message in added)
        try:
            append_synced(self.path, lines)
            if fresh:
                sync_folder(self.folder)
        except BaseException:
            self.forgets()
            raise
        if fresh:
            self._prefixes.append(KnownPrefix())
        self._prefixes[-1].take(lines)
        self._prefixes[-1].stamp = stamp(self.path)
        self._last, self._seen = added[-1].number, self._prefixes[-1].stamp
        self._greatest = self._last

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
        case {
            "id": str(name),
            "n": int(number),
            "role": str(role),
            "content": str(content),
            **rest,
        } if number > 0 and role in _ROLES:
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
    held = [
        index for index, part in enumerate(parts) if index == 0 or 0 < _first_number(part) <= number
    ]
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
