"""The transcript of a channel: `log.jsonl`, appended to under a lock of its own.

An append never waits for a commit. `forget`, `retract`, `doctor --fix` and an import that is taken
back rewrite it: they hold the channel's lock first, then this one.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem.errors import DatabaseUnavailable, LockTimeout
from pipimem.notes.message import Message
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.appended_files import (
    KnownParts,
    KnownPrefix,
    append_synced,
    parts,
    set_aside,
)
from pipimem.store.disk.files import NEVER, Stamp, put_whole, stamp
from pipimem.store.disk.folder_lock import WriteLock
from pipimem.store.disk.syscalls import reading, store_errors, sync_folder
from pipimem.store.moved import refuse_moved
from pipimem.store.transcript.message_line import line, parsed, stored

if TYPE_CHECKING:
    from pipimem.store.transcript.spool import TalkSpool


# Each table grows alone, so that growing never takes twice the memory of all.
_TABLES = 64
_FIRST_SIZE = 8
_BITS = (1 << 64) - 1


class KnownIds:
    """A set of ids in 12 to 18 bytes each; as strings in a set they take 130 and more.

    Of each id its hash is kept, 64 bits under a key that each process draws anew. Among five
    million ids two have the same hash once in a million such sets.
    """

    __slots__ = ("_counts", "_tables")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._tables = [array("Q")] * _TABLES
        self._counts = array("Q", bytes(8 * _TABLES))
        for name in names:
            self.add(name)

    def __contains__(self, name: object) -> bool:
        value = _hashed(name)
        table = self._tables[value % _TABLES]
        return bool(table) and table[_slot(table, value)] == value

    def __len__(self) -> int:
        return sum(self._counts)

    def add(self, name: str) -> bool:
        """Adds an id; whether it was not known."""
        value = _hashed(name)
        number = value % _TABLES
        table = self._tables[number]
        # Where a third is free, a place is found in two or three steps.
        if 3 * self._counts[number] >= 2 * len(table):
            table = self._tables[number] = _grown(table)
        place = _slot(table, value)
        if table[place]:
            return False
        table[place] = value
        self._counts[number] += 1
        return True


def _hashed(name: object) -> int:
    """The hash of an id; never 0, which says that a slot is free."""
    return hash(name) & _BITS or 1


def _slot(table: array[int], value: int) -> int:
    """Where a hash stands in a table, or belongs."""
    size = len(table)
    place = value // _TABLES % size
    while table[place] not in (0, value):
        place = (place + 1) % size
    return place


def _grown(table: array[int]) -> array[int]:
    size = max(_FIRST_SIZE, len(table) * 3 // 2)
    larger = array("Q", bytes(8 * size))
    for value in filter(None, table):
        larger[_slot(larger, value)] = value
    return larger


_NAME = "log.jsonl"
LOCK = "log.lock"
"""The talk's lock, in a channel's `.pipimem/`."""
DAMAGED = "log.jsonl.damaged"
"""Lines that `doctor --fix` took out of the transcript; nobody but `forget` reads them."""
# Small enough to open in an editor, large enough that most channels never rotate.
_ROTATE_AT = 8 * 1024 * 1024
# A line begins with id and number, so that neither needs the rest of it. The blanks after : and ,
# may be missing.
_HEAD = re.compile(rb'^\{"id": ?("(?:[^"\\]|\\.)*"), ?"n": ?(\d{1,15})\b')
# In a fleet a turn waits so many seconds for another host; then its talk waits beside.
PATIENCE = 2.0
# Halving stops here: one read shows it all.
_NEAR = 64 * 1024

# What a message is called that came without an id.
_OUR_ID = re.compile(r"m([1-9][0-9]{0,17})")


@dataclass(slots=True)
class Transcript:
    """The messages of a channel; appending takes the talk's lock, reading takes none."""

    folder: Path
    # `.pipimem/log.lock` on one host. Several hosts fence what they write under the channel's lock
    # alone, so there it is that one.
    lock: WriteLock
    # Where talk waits while the hosts of a fleet cannot agree who writes; `None` on one host.
    spool: TalkSpool | None = None
    _ids: KnownIds | None = None
    _last: int = 0
    # The stamp of log.jsonl when `_last` was found out.
    _seen: Stamp | None = NEVER
    # What `_ids` was read from, and the greatest number in it.
    _read: KnownParts = field(default_factory=KnownParts)
    _greatest: int = 0
    # What was asked and what was being added when another host took the lock over.
    _unsure: tuple[tuple[Message, ...], tuple[Message, ...]] = ((), ())

    @property
    def path(self) -> Path:
        """The part that is appended to."""
        return self.folder / _NAME

    @property
    def last_number(self) -> int:
        """The number of the newest message, 0 before the first; one `stat` if nothing was added."""
        found = stamp(self.path)
        if found != self._seen:
            self._last, self._seen = self._newest(), found
        return self._last

    def append(self, messages: Iterable[Message], after: int = 0) -> tuple[Message, ...]:
        """Adds the messages whose id is not known yet, numbered, in one synced write.

        Returns those. Their numbers are greater than the newest one and than `after`. A message
        without an id gets `m<number>`. After a failure nothing of them is there.
        """
        messages = tuple(messages)
        if not messages:
            return ()
        try:
            with self.lock.held(PATIENCE if self.spool else None):
                refuse_moved(self.folder / ".pipimem", self.folder.name)
                self.take_in_spool()
                self._mend()
                return self._landed(messages) or self._added(messages, after)
        except (DatabaseUnavailable, LockTimeout):
            if self.spool is None:
                raise
            return self.spool.append(messages, max(self.last_number, after))

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the talk's lock: nobody appends. The caller holds the channel's lock.

        What was read of the files is dropped at the end, for they may be rewritten meanwhile.
        """
        with nullcontext() if self.spool else self.lock.held():
            try:
                yield
            finally:
                self.drop_cached()

    def take_in_spool(self) -> None:
        """Adds what hosts kept while they could not write here; the caller holds the lock."""
        for path, messages in self.spool.taken() if self.spool else ():
            self._mend()
            self._added(tuple(messages), 0)
            assert self.spool is not None
            self.spool.drop(path)

    def spooled(self) -> Iterator[Message]:
        """What waits to be added, numbered for the time, oldest first."""
        return self.spool.messages() if self.spool else iter(())

    def _added(self, messages: tuple[Message, ...], after: int) -> tuple[Message, ...]:
        ids = self._known()
        first = max(self._last, after) + 1
        added: list[Message] = []
        for message in messages:
            named = self._renamed(message, added) if message.id in ids else message
            if not named.id or named.id not in ids:
                added.append(stored(named, first + len(added), ids))
                ids.add(added[-1].id)
        if added:
            self._unsure = messages, tuple(added)
            self._write(added)
            self._unsure = (), ()
        return tuple(added)

    def _landed(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """What stands here of the same messages since another host took the lock over."""
        asked, added = self._unsure
        self._unsure = (), ()
        if not added or asked != messages:
            return ()
        first, last = added[0].number, added[-1].number
        return added if tuple(self.window(first - 1, last)) == added else ()

    def _renamed(self, message: Message, added: list[Message]) -> Message:
        """Returns the message with `+` behind its id if we gave that id to another message.

        A host may call its users' messages `m1`, `m2` … and leave the bot's without an id. The two
        are told apart by their role: a text may have been emptied by a forgetting.
        """
        found = _OUR_ID.fullmatch(message.id)
        if found is None:
            return message
        number = int(found[1])
        known = [one for one in added if one.number == number]
        known += self.window(number - 1, number)
        is_ours = any(one.id == message.id and one.role != message.role for one in known)
        return replace(message, id=f"{message.id}+") if is_ours else message

    def messages(self) -> Iterator[Message]:
        """All messages, oldest first; damaged lines are passed over."""
        return self.window(0)

    def window(self, after: int, upto: int | None = None) -> Iterator[Message]:
        """The messages with `after < number <= upto`; what lies before them is not read."""
        parts = self.parts()
        first = _part_holding(parts, after + 1)
        for index, part in enumerate(parts[first:]):
            start = _offset_of(part, after + 1) if index == 0 and after else 0
            for data in appended_files.lines(part, start):
                message = parsed(data)
                if message is None or message.number <= after:
                    continue
                if upto is not None and message.number > upto:
                    return
                yield message

    def damaged(self) -> int:
        """Return how many lines are no message; reads everything."""
        return sum(
            _is_damaged(data) for part in self.parts() for data in appended_files.lines(part)
        )

    def set_damaged_aside(self) -> int:
        """Move the lines that are no message to the file `DAMAGED`; return how many.

        They are on the disk there before they go here: a crash in between leaves them in both. The
        caller holds the channel's lock.
        """
        count = 0
        with self.exclusive():
            for part in self.parts():
                lines = list(appended_files.lines(part))
                damaged = [data for data in lines if _is_damaged(data)]
                if damaged:
                    whole_lines = (data.removesuffix(b"\n") + b"\n" for data in damaged)
                    append_synced(self.folder / DAMAGED, b"".join(whole_lines))
                    sync_folder(self.folder)
                    put_whole(part, b"".join(data for data in lines if not _is_damaged(data)))
                    count += len(damaged)
        return count

    def parts(self) -> list[Path]:
        """The files of the transcript, oldest first, `log.jsonl` last."""
        return parts(self.path)

    def files(self) -> list[Path]:
        """Return all files that hold talk: the parts, and `DAMAGED` if it exists."""
        return self.parts() + parts(self.folder / DAMAGED)

    def drop_cached(self) -> None:
        """Drops what is held in memory: the files were rewritten, or memory is short."""
        self._ids, self._seen = None, NEVER

    def _newest(self) -> int:
        for part in reversed(self.parts()):
            number = _last_number(part)
            if number:
                return number
        return 0

    def _known(self) -> KnownIds:
        """The ids in all parts; read once, later only what other processes added."""
        parts = self.parts()
        if self._ids is None or not self._read.still_stand(parts):
            self._ids, self._greatest, self._read = KnownIds(), self._newest(), KnownParts()
        for _, _, data in self._read.fresh(parts):
            head = _HEAD.match(data)
            if head:
                self._ids.add(_id(head[1]))
                self._greatest = max(self._greatest, int(head[2]))
        self._last, self._seen = self._greatest, stamp(self.path)
        return self._ids

    def _mend(self) -> None:
        """Cuts back a last line that a crash tore; one that only lacks its ending gets it."""
        if not presence.exists(self.path):
            return
        last = next(appended_files.lines_backwards(self.path), b"\n")
        if last.endswith(b"\n"):
            return
        if parsed(last):
            append_synced(self.path, b"\n")
        else:
            append_synced(self.path, b"", at=_size(self.path) - len(last))

    def _write(self, added: list[Message]) -> None:
        fresh = not presence.exists(self.path)
        lines = b"".join(line(message) for message in added)
        with ExitStack() as on_failure:
            on_failure.callback(self.drop_cached)
            if not fresh and self.path.stat().st_size > _ROTATE_AT:
                set_aside(self.path)
                fresh = True
            self.lock.check()
            append_synced(self.path, lines)
            if fresh:
                sync_folder(self.folder)
            on_failure.pop_all()
        if fresh:
            self._read.prefixes.append(KnownPrefix())
        part = self._read.prefixes[-1]
        part.take(lines)
        part.stamp = stamp(self.path)
        # What others added while this process was suspended is looked for.
        is_newest = part.stamp is not None and part.stamp[1] == part.end
        self._last, self._seen = added[-1].number, part.stamp if is_newest else NEVER
        self._greatest = self._last


def _is_damaged(data: bytes) -> bool:
    return bool(data.strip()) and parsed(data) is None


def _id(quoted: bytes) -> str:
    if b"\\" in quoted:
        return str(json.loads(quoted))
    return quoted[1:-1].decode("utf-8", "replace")


def _size(path: Path) -> int:
    found = stamp(path)
    return found[1] if found else 0


def _last_number(path: Path) -> int:
    """The number of the last good line of a part, 0 where there is none."""
    # A torn end may begin like a message.
    for data in appended_files.lines_backwards(path):
        found = parsed(data)
        if found:
            return found.number
    return 0


def _part_holding(parts: list[Path], number: int) -> int:
    """The index of the part where a message with this number, or the next one, stands."""
    for index in range(len(parts) - 1, 0, -1):
        if 0 < _first_number(parts[index]) <= number:
            return index
    return 0


def _first_number(path: Path) -> int:
    heads = filter(None, map(_HEAD.match, appended_files.lines(path)))
    return next((int(head[2]) for head in heads), 0)


def _offset_of(path: Path, number: int) -> int:
    """A byte where a line starts, at or before the line of this number, by halving the file."""
    low, high = 0, _size(path)
    with store_errors("read", path), reading(path) as file:
        while high - low > _NEAR:
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()  # the rest of a line
            start = file.tell()
            found = next(filter(None, map(_HEAD.match, file)), None)
            if found is not None and int(found[2]) <= number and start < high:
                low = start
            else:
                high = middle
    return low
