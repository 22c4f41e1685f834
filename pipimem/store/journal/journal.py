"""The journal of a channel: one checked line for each commit, synced before the commit is acknowledged."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.errors import JournalError, StoreError
from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import append_synced, reading, sync_folder, told
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.journal.records import JournalRecord

_NAME = "journal.jsonl"
_PART = re.compile(r"journal-(\d{4,})\.jsonl")
_ROTATE_AT = 4 * 1024 * 1024
# Undo is promised for this long (DESIGN §7.1).
_KEPT = timedelta(days=30)
_SUM = re.compile(rb', "sum": "([0-9a-f]{8})"\}\n?$')


@dataclass(frozen=True, slots=True)
class Place:
    """How far a journal was read: which file (its inode; -1 where there is none) and which byte."""

    inode: int
    offset: int


NOWHERE = Place(-1, 0)
"""The end of a journal that is not there."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal in a channel's `.pipimem/`; whoever appends holds the channel's lock."""

    folder: Path

    @property
    def path(self) -> Path:
        """The part that is appended to."""
        return self.folder / _NAME

    def place(self) -> Place:
        """The end of the journal as it stands: one `stat`."""
        with told("read", self.path):
            try:
                status = self.path.stat()
            except FileNotFoundError:  # nothing else: the next append would cut at the end it was told
                return NOWHERE
        return Place(status.st_ino, status.st_size)

    def append(self, records: Sequence[JournalRecord], end: Place) -> Place:
        """Adds records in one synced write, all or nothing; returned means durable.

        `end` is where reading ended: what lies behind it is the torn end of a crash and is cut. Raised means that
        nothing of them is there, or, where the disk refused even to cut it off again, that nobody knows: look again.
        """
        fresh = not self.path.exists()
        joined = (*(replace(record, goes_on=True) for record in records[:-1]), *records[-1:])
        append_synced(self.path, b"".join(map(line, joined)), at=end.offset)
        if fresh:
            sync_folder(self.folder)
        return self.place()

    def start_anew(self, record: JournalRecord) -> None:
        """Puts a journal of this one record in the place of all that was; returned means durable."""
        put_whole(self.path, line(record))
        for part in self.parts():
            if part != self.path:
                remove(part)
        sync_folder(self.folder)

    def read(self, start: int = 0) -> tuple[list[JournalRecord], Place]:
        """The records from a byte on, and where the last whole one ends.

        Raises `JournalError` for earlier damage.
        """
        inode, offset = self.place().inode, start
        records: list[JournalRecord] = []
        torn, whole, end = b"", 0, start
        for data in jsonlines.lines(self.path, start):
            if torn:
                raise self._damaged(self.path, offset)
            if record := parsed(data):
                records.append(record)
                offset += len(data)
                if not record.goes_on:
                    whole, end = len(records), offset
            else:
                torn = data
        # Of an append that was cut off between two records nothing was acknowledged.
        return records[:whole], Place(inode, end)

    def records(self) -> Iterator[JournalRecord]:
        """All records that are kept, oldest first. Raises `JournalError` at a damaged line."""
        waiting: list[JournalRecord] = []
        for part in self.parts():
            offset, torn = 0, False
            for data in jsonlines.lines(part):
                record = parsed(data)
                if torn or (record is None and part != self.path):
                    raise self._damaged(part, offset)
                torn = record is None
                if record:
                    waiting.append(record)
                    offset += len(data)
                    if not record.goes_on:
                        yield from waiting
                        waiting.clear()

    def ends_with(self, offset: int, sequence: int) -> bool:
        """Whether the record of this number ends right at this byte."""
        if offset == 0:
            return False
        try:
            with reading(self.path) as file:
                # Records are long, but number and line end are enough to tell.
                low = max(0, offset - _ROTATE_AT)
                file.seek(low)
                before = file.read(offset - low)
        except (OSError, StoreError):
            return False
        start = before.rfind(b"\n", 0, -1) + 1
        return before.endswith(b"\n") and before[start:].startswith(b'{"seq": %d,' % sequence)

    def rotate(self, now: datetime | None) -> None:
        """Sets a large journal aside after a checkpoint, and drops parts too old to undo."""
        if self.place().offset > _ROTATE_AT:
            taken = [int(found[1]) for part in self.parts() if (found := _PART.fullmatch(part.name))]
            # The checkpoint first: with an older one, nobody would look into the part that is set aside.
            sync_folder(self.folder)
            with told("rotate", self.path):
                self.path.rename(self.folder / f"journal-{max(taken, default=0) + 1:04d}.jsonl")
        if now is not None:
            for part in self.parts():
                if part != self.path and part.stat().st_mtime < (now - _KEPT).timestamp():
                    remove(part)

    def parts(self) -> tuple[Path, ...]:
        """The files of the journal, oldest first."""
        with told("read", self.folder):
            try:
                found = [(int(part[1]), path) for path in self.folder.iterdir() if (part := _PART.fullmatch(path.name))]
            except FileNotFoundError:
                return ()
            parts = [path for _, path in sorted(found)]
            return (*parts, self.path) if self.path.exists() else tuple(parts)

    def _damaged(self, part: Path, offset: int) -> JournalError:
        with reading(part) as file:
            number = file.read(offset).count(b"\n") + 1
        return JournalError(
            f"{part}, line {number}: damaged. The Markdown files are whole; move the journal aside to go on "
            "without undo for what it holds, and see `pipimem doctor`."
        )


def line(record: JournalRecord) -> bytes:
    """A record as its line, with a checksum as the last field."""
    body = jsonlines.line(encoded(record)).rstrip(b"\n")
    return body[:-1] + b', "sum": "%08x"}\n' % zlib.crc32(body)


def parsed(data: bytes) -> JournalRecord | None:
    """The record on a line, `None` where the line is torn or was changed."""
    found = _SUM.search(data)
    if not found or not data.endswith(b"\n"):
        return None
    body = data[: found.start()] + b"}"
    value = jsonlines.value(body) if b"%08x" % zlib.crc32(body) == found[1] else None
    try:
        record = decoded(JournalRecord, value)
    except CodecError:
        return None
    etags = {str(file): change.after for file, change in record.files.items()}
    return replace(record, delta=replace(record.delta, etags=etags))
