"""A channel's notes as they stood after any change that the journal keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import NothingFound
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import etag
from pipimem.store.journal.records import FORGET, FileChange, JournalRecord
from pipimem.text.dates.bounds import local
from pipimem.text.splices import reversed_splices, spliced

Point = int | datetime
"""A moment: right after the record of this number (0: before the first), or a time."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One change of one file with the texts around it, `None` where they cannot be told any more."""

    sequence: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Past:
    """The records of the journal, oldest first, and by file the text they end with and the one that stands now."""

    records: tuple[JournalRecord, ...]
    left: Mapping[File, str]
    now: Mapping[File, str]

    def record(self, sequence: int) -> JournalRecord:
        """The record of a number. Raises `NothingFound`."""
        for record in self.records:
            if record.sequence == sequence:
                return record
        raise NothingFound(f"There is no change {sequence}. {self.reach} See `pipimem log`.")

    @property
    def begins(self) -> int:
        """The first moment there is: right after a forgetting, else right before the first record that is kept."""
        first = self.records[0] if self.records else None
        if first is None:
            return 0
        return first.sequence if first.task == FORGET else first.sequence - 1

    def sequence_at(self, point: Point) -> int:
        """The number of the last record at a moment, 0 before the first. Raises `NothingFound` beyond what is kept."""
        if isinstance(point, datetime):
            # The clock may have been set back in between: the newest one that was written by then.
            known = [record.sequence for record in self.records if _when(record) <= point]
            found = max(known, default=0)
        else:
            found = point
        last = self.records[-1].sequence if self.records else 0
        if not self.begins <= found <= last:
            raise NothingFound(f"The journal does not reach {point}. {self.reach}")
        return found

    @property
    def reach(self) -> str:
        """A sentence: from when to when the journal is kept, and why no further."""
        if not self.records:
            return "Nothing was changed yet."
        first, last = self.records[0], self.records[-1]
        if first.task == FORGET:
            return f"Change {first.sequence} ({first.time}) is a forgetting: what came before it cannot be looked back at."
        return f"The journal is kept from {first.sequence} ({first.time}) to {last.sequence} ({last.time})."

    def stretches(self, file: File) -> Iterator[Stretch]:
        """The changes of a file, the newest first."""
        text: str | None = self.left[file]
        for record in reversed(self.records):
            change = record.files.get(file)
            if change is None:
                continue
            after = text if text is not None and etag(text) == change.after else None
            text = _before(after, change)
            yield Stretch(record.sequence, text, after)

    def text_after(self, file: File, sequence: int) -> str | None:
        """The text of a file right after a record, `None` where it cannot be told any more."""
        text: str | None = self.left[file]
        for stretch in self.stretches(file):
            if stretch.sequence <= sequence:
                return stretch.after
            text = stretch.before
        return text

    def ledger_after(self, sequence: int) -> Ledger:
        """The ledger right after a record, as far as the journal tells."""
        ledger = Ledger()
        for record in self.records:
            if record.sequence <= sequence:
                ledger = ledger.after(record.delta, record.sequence)
        return ledger


def _before(after: str | None, change: FileChange) -> str | None:
    if after is None:
        return None
    try:
        before = spliced(after, reversed_splices(change.splices))
    except ValueError:  # pipimem 0.1 had forgotten something in it
        return None
    return before if etag(before) == change.before else None


def _when(record: JournalRecord) -> datetime:
    return local(datetime.fromisoformat(record.time))
