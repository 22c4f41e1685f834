"""A channel's notes as they stood after any change that the journal keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.kinds import NOTE_FILES, File, etag
from pipimem.notes.ledger import Ledger
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.journal.records import FORGET, FileChange, JournalRecord
from pipimem.store.merge.forgotten_lines import IncomingText
from pipimem.text.dates.bounds import local
from pipimem.text.markdown.line_edits import reversed_splices, spliced

Point = int | datetime
"""A moment: right after the record of this number (0: before the first), or a time."""


class ChangeWithTexts(Struct, frozen=True):
    """One change of one file, and its texts before and after, `None` where nobody knows them."""

    sequence: int
    before: str | None
    after: str | None


class Past(Struct, frozen=True):
    """The records of the journal, oldest first, and the texts of the files.

    `base` are those that the records end with, `current` those with what people changed since.
    """

    records: tuple[JournalRecord, ...]
    base: Mapping[File, str]
    current: Mapping[File, str]
    # What of the texts on the disk is merged into the current ones.
    incoming: Mapping[File, IncomingText]
    # Whether the journal lacks records that the checkpoint has.
    is_cut: bool = False

    @classmethod
    def of(cls, working_copy: WorkingCopy, view: View) -> Past:
        """The past of a channel as of this view of it. Raises `JournalError`."""
        return cls(
            tuple(working_copy.state.journal.records()),
            {file: view.base.note(file).text for file in NOTE_FILES},
            {file: view.current.note(file).text for file in NOTE_FILES},
            view.incoming,
            working_copy.state.is_cut,
        )

    def record(self, sequence: int) -> JournalRecord:
        """The record of a number. Raises `NothingFound`."""
        for record in self.records:
            if record.sequence == sequence:
                return record
        raise NothingFound(f"There is no change {sequence}. {self.reach} See `pipimem log`.")

    @property
    def begins(self) -> int:
        """The first moment: right after a forgetting, else right before the first record."""
        if not self.records:
            return 0
        first = self.records[0]
        return first.sequence if first.task == FORGET else first.sequence - 1

    def sequence_at(self, point: Point) -> int:
        """Returns the number of the last record at a moment, 0 before the first.

        Raises `NothingFound` beyond what is kept.
        """
        if isinstance(point, datetime):
            # The clock may have been set back in between: the newest one that was written by then.
            known = [record.sequence for record in self.records if record_time(record) <= point]
            found = max(known, default=0)
        else:
            found = point
        last = self.records[-1].sequence if self.records else 0
        if not self.begins <= found <= last:
            what = f"{point:%Y-%m-%d %H:%M}" if isinstance(point, datetime) else f"change {point}"
            raise NothingFound(f"The journal does not reach {what}. {self.reach}")
        return found

    @property
    def reach(self) -> str:
        """A sentence: from when to when the journal is kept, and why no further."""
        if not self.records:
            return "Nothing was changed yet."
        first, last = self.records[0], self.records[-1]
        if first.task == FORGET:
            return (
                f"Change {first.sequence} ({first.time}) is a forgetting: "
                "what came before it cannot be looked back at."
            )
        return (
            f"The journal is kept from {first.sequence} ({first.time}) "
            f"to {last.sequence} ({last.time})."
        )

    def changes_of(self, file: File) -> Iterator[ChangeWithTexts]:
        """The changes of a file, the newest first."""
        text: str | None = self.base[file]
        for record in reversed(self.records):
            change = record.files.get(file)
            if change is None:
                continue
            after = text if text is not None and etag(text) == change.after else None
            text = _before(after, change)
            yield ChangeWithTexts(record.sequence, text, after)

    def text_after(self, file: File, sequence: int) -> str | None:
        """The text of a file right after a record, `None` where nobody knows it."""
        text: str | None = self.base[file]
        for change in self.changes_of(file):
            if change.sequence <= sequence:
                return change.after
            text = change.before
        return text

    def known_text(self, file: File, sequence: int) -> str:
        """The text of a file right after a record. Raises `CannotTakeBack` where nobody knows."""
        text = self.text_after(file, sequence)
        if text is None:
            raise CannotTakeBack(
                f"what {file} was then cannot be told any more, because a part of .pipimem/ is "
                "gone; choose a later point"
            )
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


def record_time(record: JournalRecord) -> datetime:
    """When a record was written, with an offset."""
    return local(datetime.fromisoformat(record.time))
