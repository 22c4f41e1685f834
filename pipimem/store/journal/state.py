"""What the journal of a channel says: the ledger, and the newest text of each file."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from pipimem.errors import JournalError
from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Ledger
from pipimem.store.disk import presence
from pipimem.store.disk.files import NEVER, Stamp
from pipimem.store.disk.shared_folders import note_read
from pipimem.store.journal import checkpoint as ledger_file
from pipimem.store.journal.checkpoint import Checkpoint
from pipimem.store.journal.journal import Journal
from pipimem.store.journal.records import NOWHERE, FileChange, JournalRecord, Place, spliced_to
from pipimem.store.journal.text_versions import Versions

# An editor may have loaded a text that many changes ago; older ones are found among the versions.
_REMEMBERED = 200
# A start folds at most so many records; a checkpoint costs some ms.
_CHECKPOINT_AFTER = 200

_log = logging.getLogger("pipimem")


@dataclass(slots=True)
class State:
    """The ledger as of the newest record, kept up with records that other processes add."""

    folder: Path
    journal: Journal
    versions: Versions
    _concluded: Callable[[], Ledger]
    _check_lock: Callable[[], None]
    ledger: Ledger = field(default_factory=Ledger)
    place: Place = NOWHERE
    # Of the journal as it was read up to there.
    stamp: Stamp | None = None
    # The last record since the checkpoint that added to the archive.
    archived: JournalRecord | None = None
    _recent: dict[File, deque[FileChange]] | None = None
    _since: int = 0
    _known: dict[File, tuple[str, str]] = field(default_factory=dict)
    # Records are lost: the journal does not go on from the checkpoint, or is not the one that was
    # read. What texts the files were left with is not known then; an older one would take out what
    # came since.
    is_cut: bool = False

    @classmethod
    def load(
        cls, folder: Path, concluded: Callable[[], Ledger], check_lock: Callable[[], None]
    ) -> State:
        """The state that checkpoint and journal in a channel's folder tell.

        Without both the ledger is what `concluded` returns. `check_lock` raises `LockLost` where
        the lock of the channel is no longer held.
        """
        own = folder / ".pipimem"
        state = cls(folder, Journal(own), Versions(own / "versions"), concluded, check_lock)
        state._start()
        return state

    @property
    def is_due(self) -> bool:
        """Whether enough records have gathered for a checkpoint."""
        return self._since >= _CHECKPOINT_AFTER

    @property
    def has_news(self) -> bool:
        """Whether records were added since the checkpoint, or a journal is still of format 1."""
        return self._since > 0 or self.place.is_of_format_1

    def catch_up(self, *, is_to_write: bool = False) -> None:
        """Folds in what other processes committed; the same stamp says that they did nothing.

        With `is_to_write` the journal itself must say so: what is appended to another one would be
        refused.
        """
        stamp = self.journal.stamp()
        if stamp == self.stamp and not (is_to_write and stamp is not None):
            return
        if self.journal.holds(self.place):
            records, self.place = self.journal.read(self.place)
            self.stamp = stamp
            self._fold(records)
            return
        # Another process set the journal aside or forgot something in it, or a person deleted or
        # replaced it.
        before, sequence = self.place, self.ledger.sequence
        self._start()
        is_known = before.journal and presence.is_folder(self.journal.folder)
        if is_known and not self.journal.follows(before, sequence):
            self.is_cut = True
            _log.warning(
                "%s is no longer the journal that was in use: it was deleted or replaced. What "
                "only it held cannot be undone any more; the Markdown files are whole.",
                self.journal.path,
            )

    def accept_files(self) -> None:
        """Where records are lost, the texts as they stand count as those of the journal.

        The caller holds the lock.
        """
        if not self.is_cut:
            return
        self.ledger = replace(self.ledger, etags={})
        self._known.clear()
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, self.place))
        self.is_cut = False

    def append(self, records: Sequence[JournalRecord], texts: Mapping[File, str]) -> None:
        """Writes records, durable when this returns; `texts` are those they leave the files with.

        Raises `JournalError` and `StoreError` as `Journal.append` does, and `LockLost`.
        """
        self._check_lock()  # what another holder appended meanwhile would be taken for a torn end
        self.place = self.journal.append(records, self.place)
        self.stamp = self.journal.stamp_at(self.place)
        self._fold(records)
        for file, text in texts.items():
            self._known[file] = (etag(text), text)

    def known_text(self, file: File, disk: str) -> str | None:
        """Returns the text the journal left a file with, `None` where none is known.

        `disk`, the text that stands there, spares a look-up where it is that one.
        """
        wanted = self.ledger.etags.get(file)
        if wanted is None or self.is_cut:
            return None
        if file not in self._known or self._known[file][0] != wanted:
            text = disk if etag(disk) == wanted else self._stored_text(file, wanted)
            if text is None:
                text = self._spliced_text(file, wanted)
            if text is None:
                return None
            self._known[file] = (wanted, text)
        known = self._known[file][1]
        return disk if disk == known else known

    def checkpoint(self, texts: Mapping[File, str], now: datetime | None) -> None:
        """Keeps ledger and texts in `ledger.json`, so that the next start reads no older record."""
        kept = {}
        for file, text in texts.items():
            if self.ledger.etags.get(file) == etag(text):
                self.versions.keep(file, text, synced=False)
                kept[file] = text
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, self.place, kept))
        self.place = self.journal.rotate(self.place, now)
        self.stamp = self.journal.stamp_at(self.place)
        self.versions.prune(now)
        self._since, self.archived = 0, None

    def start_anew(self, record: JournalRecord) -> None:
        """Begins a journal with a record that has the whole ledger."""
        known = {file: self.known_text(file, "") for file in File}
        texts = {file: text for file, text in known.items() if text is not None}
        # First: with an older ledger, a journal of one record would lack what lies between them.
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, NOWHERE, texts))
        self.journal.start_anew(record)
        self._start()

    @property
    def _ledger_path(self) -> Path:
        return self.folder / ".pipimem" / "ledger.json"

    def _start(self) -> None:
        """Reads everything anew."""
        self._recent = None
        self._known.clear()
        # Before anything is read: what is written, or set aside, meanwhile gives the journal
        # another one.
        stamp = self.journal.stamp()
        # Where reading fails, the next one must not take what is half read for all there is.
        self.stamp, self.place = NEVER, NOWHERE
        checkpoint = ledger_file.load(self._ledger_path)
        self._since, self.archived, self.is_cut = 0, None, False
        start = NOWHERE
        if checkpoint is None:
            self.ledger = Ledger()
            # The parts that were set aside first; the one at hand is read below like any other.
            if len(self.journal.parts()) > 1:
                self._fold(self.journal.records())
        else:
            self.ledger = checkpoint.ledger
            if self.journal.holds(checkpoint.place):
                start = checkpoint.place
        records, end = self.journal.read(start)
        if checkpoint is not None and start == NOWHERE:
            self._join(checkpoint.place, records)
        self._fold(records)
        if self.ledger.sequence == 0:
            self.ledger = self._concluded()
        self.stamp, self.place = stamp, end

    def _join(self, place: Place, records: Sequence[JournalRecord]) -> None:
        """Folds in what lies between a checkpoint and the `records` of a journal without its place.

        Where records are lost nobody knows the texts they left the files with: what stands there is
        taken as it is. With the texts of the checkpoint, what came by those records would count as
        deleted. Raises `JournalError` for a journal of another channel, or of an earlier time.
        """
        first = records[0].sequence if records else 0
        sequence = self.ledger.sequence
        if first == sequence + 1:
            return
        if self._is_continued(place, records):
            if first > sequence:
                self._fold(self.journal.records())
            return
        if 0 < first <= sequence and self.journal.name != place.journal != "":
            raise JournalError(
                f"{self.journal.path} and {self._ledger_path.name} beside it do not belong "
                "together: one of them is from elsewhere, or from an earlier time. "
                "`pipimem doctor --fix` sets an older copy of the journal aside. Else remove "
                "ledger.json if that one is from elsewhere, or move the journal away to go on "
                "without undo for what it held. The Markdown files are whole."
            )
        self.ledger, self.is_cut = replace(self.ledger, etags={}), True

    def _is_continued(self, place: Place, records: Sequence[JournalRecord]) -> bool:
        """Whether the journal has all that came since `place`, in its parts or by a forgetting."""
        if records and records[-1].sequence < self.ledger.sequence:
            return False  # its end is cut off, or it is an older copy
        parts = self.journal.parts()
        if not records and place == NOWHERE and parts == (self.journal.path,):
            return False  # the record that a forgetting began it with is cut off
        if not place.journal:
            # Without etags nothing is believed of the texts: that records are lost is accepted.
            return bool(parts) or not self.ledger.etags
        return self.journal.follows(place, self.ledger.sequence)

    def _fold(self, records: Iterable[JournalRecord]) -> None:
        for record in records:
            if record.sequence <= self.ledger.sequence:
                continue
            self.ledger = self.ledger.after(record.delta, record.sequence)
            self._remember([record])
            self._since += 1
            if record.archived:
                self.archived = record
        note_read(self.folder, self.ledger.sequence)

    def _stored_text(self, file: File, mark: str) -> str | None:
        """The text of this etag, as a version or in the checkpoint: versions are not synced."""
        text = self.versions.text(file, mark)
        if text is None:
            checkpoint = ledger_file.load(self._ledger_path)
            text = checkpoint.texts.get(file) if checkpoint else None
        return text if text is not None and etag(text) == mark else None

    def recent_changes(self, file: File) -> Sequence[FileChange]:
        """The last 200 changes of a file, also those from before the checkpoint.

        They are read when first asked for. A damaged journal has none: `pipimem doctor` names it.
        """
        if self._recent is None:
            # Not before it is read: what cannot be read right now would count as empty.
            records = self._readable_records()
            self._recent = {each: deque(maxlen=_REMEMBERED) for each in File}
            self._remember(record for record in records if record.sequence <= self.ledger.sequence)
        return self._recent[file]

    def _remember(self, records: Iterable[JournalRecord]) -> None:
        if self._recent is not None:
            for record in records:
                for file, change in record.files.items():
                    self._recent[file].append(change)

    def _readable_records(self) -> list[JournalRecord]:
        """The records of the part that is appended to, none where it is damaged."""
        try:
            return self.journal.read()[0]
        except JournalError:
            return []

    def _spliced_text(self, file: File, wanted: str) -> str | None:
        """The text of an etag, made of the newest stored text that the splices start from."""
        records = self._readable_records()
        changes = [record.files[file] for record in records if file in record.files]
        for index in reversed(range(len(changes))):
            text = self._stored_text(file, changes[index].before)
            if text is not None:
                return spliced_to(wanted, text, changes[index:])
        return None
