"""A channel's notes as they stood after any change that is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Ledger
from pipimem.state.changes import FORGET, ChangeRecord
from pipimem.state.channel_state import ChannelState
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.text.dates.bounds import local

Point = int | datetime
"""A moment: right after the record of this number (0: before the first), or a time."""


class ChangeWithTexts(Struct, frozen=True):
    """One change of one file, and its texts before and after, `None` where nobody knows them."""

    sequence: int
    before: str | None
    after: str | None


class Past(Struct, frozen=True):
    """The changes that are kept, oldest first, and the texts of the files.

    `base` are those that the changes end with, `current` those with what people changed since.
    """

    records: tuple[ChangeRecord, ...]
    base: Mapping[File, str]
    current: Mapping[File, str]
    state: ChannelState
    # How many forgotten lines the files have that no record has taken in yet.
    unrecorded: Mapping[File, int]

    @classmethod
    def of(cls, working_copy: WorkingCopy, view: View) -> Past:
        """Return the past of a channel as of this view of it."""
        return cls(
            tuple(working_copy.state.changes()),
            {file: view.base.note(file).text for file in NOTE_FILES},
            {file: view.current.note(file).text for file in NOTE_FILES},
            working_copy.state,
            {
                file: save.removed
                for file, save in view.incoming.items()
                if save.removed and not working_copy.is_merged(file, view.disk[file].text)
            },
        )

    def record(self, sequence: int) -> ChangeRecord:
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
            raise NothingFound(f"The changes that are kept do not reach {what}. {self.reach}")
        return found

    @property
    def reach(self) -> str:
        """A sentence: from when to when changes are kept, and why no further."""
        if not self.records:
            return "Nothing was changed yet."
        first, last = self.records[0], self.records[-1]
        if first.task == FORGET:
            return (
                f"Change {first.sequence} ({first.time}) is a forgetting: "
                "what came before it cannot be looked back at."
            )
        return (
            f"Changes are kept from {first.sequence} ({first.time}) "
            f"to {last.sequence} ({last.time})."
        )

    def changes_of(self, file: File) -> Iterator[ChangeWithTexts]:
        """Yield the changes of a file with their texts, the newest first."""
        for record in reversed(self.records):
            change = record.files.get(file)
            if change is not None:
                before, after = self.state.text(change.before), self.state.text(change.after)
                yield ChangeWithTexts(record.sequence, before, after)

    def text_after(self, file: File, sequence: int) -> str | None:
        """Return the text of a file right after a record, `None` where nobody knows it."""
        etag = ""
        for record in reversed(self.records):
            change = record.files.get(file)
            if change is not None and record.sequence <= sequence:
                return self.state.text(change.after)
            etag = change.before if change is not None else etag
        return self.state.text(etag) if etag else self.base[file]

    def known_text(self, file: File, sequence: int) -> str:
        """The text of a file right after a record. Raises `CannotTakeBack` where nobody knows."""
        text = self.text_after(file, sequence)
        if text is None:
            raise CannotTakeBack(
                f"What {file} was then is not known any more, because a part of .pipimem/ is "
                "gone, or because one text a day is kept of so long a past. Choose a later point."
            )
        return text

    def ledger_after(self, sequence: int) -> Ledger:
        """The ledger right after a record, as far as the changes that are kept tell."""
        ledger = Ledger()
        for record in self.records:
            if record.sequence <= sequence:
                ledger = ledger.after(record.delta, record.sequence)
        return ledger


def record_time(record: ChangeRecord) -> datetime:
    """When a record was written, with an offset."""
    return local(datetime.fromisoformat(record.time))
