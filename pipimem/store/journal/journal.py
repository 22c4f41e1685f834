"""The journal of a channel: one checked line a commit, synced before it is acknowledged.

Its first line has a random name, and every checksum goes over the one before. So a place in a
journal is known by what cannot come again: the name, a byte, and the checksum that ends there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import JournalError, LockLost
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.appended_files import append_synced, older_parts, parts, set_aside
from pipimem.store.disk.fencing import fence_number, note_written
from pipimem.store.disk.files import NEVER, Stamp, put_whole, remove, stamp
from pipimem.store.disk.syscalls import reading, store_errors, sync_folder
from pipimem.store.journal.records import FORGET, FORMAT, NOWHERE, JournalRecord, Place
from pipimem.text.dates.bounds import later
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.json_lines import TAIL_LENGTH, checked_line, checked_value, checksum_of

_NAME = "journal.jsonl"
_ROTATE_AT = 4 * 1024 * 1024
# Undo is promised for this long.
_KEPT = timedelta(days=30)
_NAME_BYTES = 8
_GOES_ON = b'"goes_on": true'
_FOLLOWS = b'"follows": true'


class AppendUnsure(LockLost):
    """Another host took the lock over in the middle of an append.

    The records stand in the journal if it `has` the place `end`, where they would end.
    """

    def __init__(self, text: str, end: Place) -> None:
        super().__init__(text)
        self.end = end


class Journal(Struct, frozen=True):
    """The journal in a channel's `.pipimem/`; whoever appends holds the channel's lock."""

    folder: Path

    @property
    def path(self) -> Path:
        """The part that is appended to."""
        return self.folder / _NAME

    def stamp(self) -> Stamp | None:
        """What changes with every record, `None` without a journal: one `stat`."""
        return stamp(self.path)

    def stamp_at(self, place: Place) -> Stamp | None:
        """The stamp if the journal ends at a place, else that of nothing that was read.

        A process that is suspended behind its last look at the lock finds others' records there.
        """
        status = self.stamp()
        size = status[1] if status else 0
        return status if size == place.offset else NEVER

    def ends_at(self, place: Place) -> bool:
        """Whether nothing lies behind a place where this journal was read to its end."""
        status = self.stamp()
        return status is None or status[1] <= place.offset

    def append(self, records: Sequence[JournalRecord], end: Place) -> Place:
        """Adds records in one synced write, all or nothing; returned means durable.

        `end` is where reading ended: what lies behind it is the torn end of a crash and is cut.
        Raises `JournalError` where another journal lies there. Raised means that nothing of them is
        there, or, where the disk refused even to cut it off again, that nobody knows: look again.
        `AppendUnsure` says the same where another host took the lock over.
        """
        if end != NOWHERE and not self.holds(end):
            raise JournalError(f"{self.path} is no longer the journal that was read. Try again.")
        fresh = not presence.exists(self.path)
        start, data = end.offset, b""
        if end == NOWHERE:
            data, end = self._header()
        for number, record in enumerate(records):
            grouped = replace(
                record,
                goes_on=number < len(records) - 1,
                follows=number > 0,
                fence=fence_number(),
            )
            added = line(grouped, end.chained)
            data += added
            end = end.after(added)
            note_written(record.sequence)  # an append that ends in doubt may have landed
        try:
            append_synced(self.path, data, at=start)
        except LockLost as error:
            raise AppendUnsure(str(error), end) from error
        if fresh:
            sync_folder(self.folder)
        return end

    def start_anew(self, record: JournalRecord) -> None:
        """Replaces the journal, with its parts, by one of this record; returned means durable."""
        header, end = self._header()
        fenced = replace(record, fence=fence_number())
        note_written(record.sequence)
        put_whole(self.path, header + line(fenced, end.chained))
        for part in older_parts(self.path):
            remove(part)
        sync_folder(self.folder)

    def _header(self) -> tuple[bytes, Place]:
        """The first line of a new journal, and where it ends."""
        name = os.urandom(_NAME_BYTES).hex()
        channel = self.folder.parent.name
        data = checked_line({"format": FORMAT, "journal": name, "channel": channel})
        return data, Place(name, len(data), checksum_of(data))

    @property
    def channel(self) -> str:
        """The folder name of the channel that the newest part was begun in; empty if unknown."""
        header = checked_value(next(appended_files.lines(self.path), b"")) or {}
        return str(header.get("channel", ""))

    def holds(self, place: Place) -> bool:
        """Whether this journal goes on from a place: all that lies before it is what was read."""
        return _holds(self.path, place)

    def has(self, place: Place) -> bool:
        """Whether a place lies in this journal, also in a part that was set aside."""
        return any(_holds(part, place) for part in self.parts())

    @property
    def name(self) -> str:
        """The random name in the first line of the part that is appended to; "" without one."""
        return self._name_of(self.path)

    def follows(self, place: Place, sequence: int) -> bool:
        """Whether the journal that a place lies in was set aside, or replaced by a forgetting.

        `sequence` is the number of the newest record that was read: a forgetting begins with none
        below it.
        """
        if any(self._name_of(part) == place.journal for part in older_parts(self.path)):
            return True
        lines = appended_files.lines(self.path)
        header = _header_place(next(lines, b""))
        record = parsed(next(lines, b""), header.chained)
        if header.journal == place.journal or record is None:
            return False
        return record.task == FORGET and record.sequence >= sequence

    def _name_of(self, part: Path) -> str:
        return _header_place(next(appended_files.lines(part), b"")).journal

    def read(self, start: Place = NOWHERE) -> tuple[list[JournalRecord], Place]:
        """The records from a place on, and where the last whole one ends.

        Raises `JournalError` for earlier damage.
        """
        records: list[JournalRecord] = []
        end = start
        for written_as_one, place in self._groups(self.path, start):
            records += written_as_one
            end = place
        return records, end

    def records(self) -> Iterator[JournalRecord]:
        """All records that are kept, oldest first. Raises `JournalError` at a damaged line."""
        for part in self.parts():
            for written_as_one, _ in self._groups(part, NOWHERE):
                yield from written_as_one

    def _groups(self, part: Path, place: Place) -> Iterator[tuple[list[JournalRecord], Place]]:
        """The records of a part from a place on, those together that were written as one.

        With each group comes the place where it ends; the header is a group of none. Of an append
        that was cut off between two records nothing was acknowledged: it is left out, and so is one
        of which a power cut kept any later line, since the disk writes blocks in any order.
        """
        group: list[JournalRecord] = []
        lines = appended_files.lines(part, place.offset)
        for data in lines:
            if place == NOWHERE and _header_place(data) != NOWHERE:
                place = _header_place(data)
                yield [], place
                continue
            record = parsed(data, place.chained)
            if record is None:
                if part != self.path or not _is_torn_end(data, lines):
                    raise self._damaged(part, place)
                return
            place = place.after(data)
            group.append(record)
            if not record.goes_on:
                yield group, place
                group = []

    def rotate(self, end: Place, now: datetime | None) -> Place:
        """Sets a large journal, or one of format 1, aside, and drops parts too old to undo.

        It is called after a checkpoint. Returns the end of the journal that is appended to from now
        on.
        """
        is_set_aside = end.offset > _ROTATE_AT or end.is_of_format_1
        if is_set_aside:
            # The checkpoint first: with an older one, nobody would look into the part that is set
            # aside.
            sync_folder(self.folder)
            set_aside(self.path)
        if now is not None:
            for part in older_parts(self.path):
                if part.stat().st_mtime < later(now, -_KEPT).timestamp():
                    remove(part)
        return NOWHERE if is_set_aside else end

    def parts(self) -> tuple[Path, ...]:
        """The files of the journal, oldest first."""
        return tuple(parts(self.path))

    def _damaged(self, part: Path, place: Place) -> JournalError:
        with reading(part) as file:
            number = file.read(place.offset).count(b"\n") + 1
        return JournalError(
            f"{part}, line {number}: damaged. The Markdown files are whole; move the journal aside "
            "to go on without undo for what it holds, and see `pipimem doctor`."
        )


def _holds(part: Path, place: Place) -> bool:
    with store_errors("read", part):
        try:
            file = reading(part)
        except FileNotFoundError:
            return False
        with file:
            header = _header_place(file.readline())
            file.seek(max(0, place.offset - TAIL_LENGTH))
            checksum = checksum_of(file.read(TAIL_LENGTH))
    return bool(checksum) and (header.journal, checksum) == (place.journal, place.checksum)


def _is_torn_end(data: bytes, following: Iterable[bytes]) -> bool:
    """Whether a damaged line and all that follow were written as one, by an append that was cut.

    What is left of the lines says so: a mark of ours, with its quotes, cannot stand in a text,
    since JSON escapes them there.
    """
    for each in following:
        if _GOES_ON not in data and _FOLLOWS not in each:
            return False
        data = each
    return True


def line(record: JournalRecord, previous: str = "") -> bytes:
    """A record as its line; `previous` is the checksum of the line before."""
    return checked_line(encoded(record), previous)


def parsed(data: bytes, previous: str = "") -> JournalRecord | None:
    """The record on a line, `None` where the line is torn, was changed or follows another one."""
    try:
        record = decoded(JournalRecord, checked_value(data, previous))
    except CodecError:
        return None
    etags = {str(file): change.after for file, change in record.files.items()}
    return replace(record, delta=replace(record.delta, etags=etags))


def _header_place(data: bytes) -> Place:
    """Where the first line of a journal ends; `NOWHERE` where it is none, as in format 1."""
    match checked_value(data):
        case {"journal": str(name)}:
            return Place(name, len(data), checksum_of(data))
    return NOWHERE
