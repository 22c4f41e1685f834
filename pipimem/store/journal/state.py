"""What the journal of a channel says: the ledger, and the text each file was left with."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pipimem.errors import JournalError
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import etag
from pipimem.store.disk.files import NEVER, Stamp
from pipimem.store.journal import ledger_file
from pipimem.store.journal.journal import NOWHERE, Journal, Place
from pipimem.store.journal.ledger_file import Checkpoint
from pipimem.store.journal.placeholders import without_placeholders
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.journal.versions import NAME_LENGTH, Versions
from pipimem.store.transcript import Transcript
from pipimem.text.lines import split_lines
from pipimem.text.splices import reversed_splices, spliced, spliced_lines

# An editor may have loaded a text that many changes ago; older ones are found among the versions.
_REMEMBERED = 200
# A start folds at most so many records; a checkpoint costs some ms.
_CHECKPOINT_AFTER = 200

_log = logging.getLogger("pipimem")


class PastText(NamedTuple):
    """A text that stood in a file, as lines.

    `is_saved` where it is what a person's editor saved and we merged: that editor may go on from it. `marked` are the
    lines with a placeholder for each that was forgotten since; empty where there is none.
    """

    lines: tuple[str, ...]
    is_saved: bool = False
    marked: tuple[str, ...] = ()

    @classmethod
    def kept(cls, lines: tuple[str, ...], *, is_saved: bool = False) -> PastText:
        """The text of a version or a record, which may have placeholders."""
        plain = without_placeholders(lines)
        return cls(plain, is_saved, () if len(plain) == len(lines) else lines)


@dataclass(slots=True)
class State:
    """The ledger as of the newest record, kept up with records that other processes add."""

    folder: Path
    journal: Journal
    versions: Versions
    ledger: Ledger = field(default_factory=Ledger)
    place: Place = NOWHERE
    # Of the journal as it was read up to there.
    stamp: Stamp | None = None
    # The last record since the checkpoint that added to the archive.
    archived: JournalRecord | None = None
    _recent: dict[File, deque[FileChange]] | None = None
    _since: int = 0
    _known: dict[File, tuple[str, str]] = field(default_factory=dict)
    # Records are lost: the journal does not go on from the checkpoint, or is not the one that was read. What texts the
    # files were left with is not known then; an older one would take out what came since.
    is_cut: bool = False
    # What other files tell of a channel that has neither checkpoint nor journal.
    _concluded: Callable[[], Ledger] = Ledger

    @classmethod
    def load(
        cls, folder: Path, transcript: Transcript, history_end: Callable[[], datetime | None]
    ) -> State:
        """The state a channel's folder tells.

        Without one, what HISTORY.md and the transcript let conclude.
        """
        own = folder / ".pipimem"

        def concluded() -> Ledger:
            covered = history_end() if transcript.last_number else None
            return fresh_ledger(transcript, covered) if covered else Ledger()

        state = cls(folder, Journal(own), Versions(own / "versions"), _concluded=concluded)
        state._start()
        return state

    @property
    def is_due(self) -> bool:
        """Whether enough records have gathered for a checkpoint."""
        return self._since >= _CHECKPOINT_AFTER

    @property
    def has_news(self) -> bool:
        """Whether there are records since the checkpoint, or a journal of format 1 to be set aside."""
        return self._since > 0 or self.place.is_of_format_1

    def catch_up(self, *, is_to_write: bool = False) -> None:
        """Folds in what other processes committed; the same stamp says that they did nothing.

        With `is_to_write` the journal itself must say so: what is appended to another one would be refused.
        """
        stamp = self.journal.stamp()
        if stamp == self.stamp and not (is_to_write and stamp is not None):
            return
        if self.journal.holds(self.place):
            records, self.place = self.journal.read(self.place)
            self.stamp = stamp
            self._fold(records)
            return
        # Another process set the journal aside or forgot something in it, or a person deleted or replaced it.
        before, sequence = self.place, self.ledger.sequence
        self._start()
        if (
            before.journal
            and self.journal.folder.is_dir()
            and not self.journal.follows(before, sequence)
        ):
            self.is_cut = True
            _log.warning(
                "%s is no longer the journal that was in use: it was deleted or replaced. What only it held cannot "
                "be undone any more; the Markdown files are whole.",
                self.journal.path,
            )

    def believe_files(self) -> None:
        """Where records are lost, takes the texts as they stand for those that the journal left. The caller holds the lock."""
        if not self.is_cut:
            return
        self.ledger = replace(self.ledger, etags={})
        self._known.clear()
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, self.place))
        self.is_cut = False

    def append(self, records: Sequence[JournalRecord], texts: Mapping[File, str]) -> None:
        """Writes records, durable when this returns, and takes in the texts they leave their files with."""
        self.place = self.journal.append(records, self.place)
        self.stamp = self.journal.stamp()
        self._fold(records)
        for file, text in texts.items():
            self._known[file] = (etag(text), text)

    def known_text(self, file: File, disk: str) -> str | None:
        """The text the journal left a file with, `None` where none is known; `disk` spares a look-up."""
        wanted = self.ledger.etags.get(file)
        if wanted is None or self.is_cut:
            return None
        if file not in self._known or self._known[file][0] != wanted:
            text = disk if etag(disk) == wanted else self._kept(file, wanted)
            text = self._from_splices(file, wanted) if text is None else text
            if text is None:
                return None
            self._known[file] = (wanted, text)
        known = self._known[file][1]
        return disk if disk == known else known

    def past_texts(
        self, file: File, *, is_placed: bool = True, before: str = ""
    ) -> Iterator[PastText]:
        """The texts that stood in a file, newest first, as far back as journal and versions tell.

        Without `is_placed` the one the journal left it with has not reached the file. With `before`,
        the first digits of an etag, only texts older than that one.
        """
        passed: set[str] = set()
        yield from _without_beginning(self._journalled(file, is_placed, before, passed))
        for name in self.versions.names(file):
            if name not in passed and (text := self.versions.text(file, name)) is not None:
                yield PastText.kept(split_lines(text))

    def _journalled(
        self, file: File, is_placed: bool, before: str, passed: set[str]
    ) -> Iterator[PastText]:
        """Those that the journal leads back to; the beginnings of all their etags go to `passed`."""
        mark, text = self.ledger.etags.get(file, ""), self.known_text(file, "")
        is_older = not before
        passed.add(mark[:NAME_LENGTH])
        lines = split_lines(text or "")
        if text is not None and is_placed and is_older:
            yield PastText(lines)
        for change in reversed(self._changes(file)):
            if text is None or change.after != mark:
                break
            is_older = is_older or mark.startswith(before)
            mark = change.before
            passed |= {mark[:NAME_LENGTH], change.found[:NAME_LENGTH]}
            try:
                if change.found and is_older:
                    yield from self._saved(file, change, lines)
                lines = spliced_lines(lines, reversed_splices(change.splices))
            except ValueError:  # something was forgotten in it since
                break
            if is_older and not change.unseen:
                yield PastText(lines)

    def _saved(self, file: File, change: FileChange, after: tuple[str, ...]) -> Iterator[PastText]:
        """The text of a person's that a change took in; `after` are the lines it led to."""
        if change.found_splices or change.found == change.after:
            yield PastText.kept(spliced_lines(after, change.found_splices), is_saved=True)
        elif (text := self.versions.text(file, change.found)) is not None:
            yield PastText.kept(split_lines(text), is_saved=True)  # a record of pipimem 0.1

    def replaced_by(self, file: File, mark: str) -> frozenset[str]:
        """The etags of the texts that the one of this etag, or its first digits, may replace."""
        marks: set[str] = set()
        is_older = False
        for change in reversed(self._changes(file)):
            is_older = is_older or change.after.startswith(mark)
            if is_older:
                marks |= {change.before, change.found}
                if not change.unseen:
                    break
        return frozenset(marks)

    def checkpoint(self, texts: Mapping[File, str], now: datetime | None) -> None:
        """Makes the files alone sufficient: keeps ledger and texts, so that no record is needed to know them."""
        texts = {
            file: text for file, text in texts.items() if self.ledger.etags.get(file) == etag(text)
        }
        for file, text in texts.items():
            self.versions.keep(file, text, synced=False)
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, self.place, texts))
        self.place = self.journal.rotate(self.place, now)
        self.stamp = self.journal.stamp()
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
        self._recent = None
        self._known.clear()
        # Before anything is read: what is written, or set aside, meanwhile gives the journal another one.
        stamp = self.journal.stamp()
        # Where reading fails, the next one must not take what is half read for all there is.
        self.stamp, self.place = NEVER, NOWHERE
        checkpoint = ledger_file.load(self._ledger_path)
        self._since, self.archived, self.is_cut = 0, None, False
        if checkpoint is None:
            # The folds of set-aside parts first; the part at hand is read below like any other.
            self.ledger = Ledger()
            older = self.journal.records() if len(self.journal.parts()) > 1 else iter(())
            self._fold(older)
            start = NOWHERE
        else:
            self.ledger = checkpoint.ledger
            start = checkpoint.place if self.journal.holds(checkpoint.place) else NOWHERE
        records, end = self.journal.read(start)
        if checkpoint is not None and start == NOWHERE:
            self._bridge(checkpoint.place, records)
        self._fold(records)
        if self.ledger.sequence == 0:
            self.ledger = self._concluded()
        self.stamp, self.place = stamp, end

    def _bridge(self, place: Place, records: Sequence[JournalRecord]) -> None:
        """Makes good what lies between a checkpoint and a journal that does not hold the place of it.

        Where records are lost nobody knows the texts they left the files with: what stands there is taken as it is. With
        the texts of the checkpoint, what came by those records would count as taken out. Raises `JournalError` for a
        journal of another channel, or of an earlier time.
        """
        first = records[0].sequence if records else 0
        sequence = self.ledger.sequence
        if first == sequence + 1:
            return
        is_whole = (
            self.journal.follows(place, sequence) if place.journal else bool(self.journal.parts())
        )
        if records and records[-1].sequence < sequence:
            is_whole = False  # its end is cut off, or it is an older copy
        if not records and place == NOWHERE and self.journal.parts() == (self.journal.path,):
            is_whole = False  # the record that a forgetting began it with is cut off
        if not is_whole:
            if 0 < first <= sequence and self.journal.name != place.journal != "":
                raise JournalError(
                    f"{self.journal.path} and {self._ledger_path.name} beside it do not belong together: one of them is "
                    "from elsewhere. Remove ledger.json if the journal is this channel's own, else move the journal "
                    "aside to go on without undo for what it held. The Markdown files are whole."
                )
            self.ledger, self.is_cut = replace(self.ledger, etags={}), True
        elif first > sequence:
            self._fold(self.journal.records())

    def _fold(self, records: Iterable[JournalRecord]) -> None:
        for record in records:
            if record.sequence <= self.ledger.sequence:
                continue
            self.ledger = self.ledger.after(record.delta, record.sequence)
            self._remember([record])
            self._since += 1
            if record.archived:
                self.archived = record

    def _kept(self, file: File, mark: str) -> str | None:
        """The text of this etag, as a version or in the checkpoint: versions are not synced."""
        text = self.versions.text(file, mark)
        if text is None and (checkpoint := ledger_file.load(self._ledger_path)) is not None:
            text = checkpoint.texts.get(file)
        return text if text is not None and etag(text) == mark else None

    def _changes(self, file: File) -> deque[FileChange]:
        """The changes of a file, also those from before the checkpoint: read when first asked for."""
        if self._recent is None:
            try:
                records = self.journal.read()[0]
            except JournalError:  # doctor tells; here there is just less to know
                records = []
            # Not before: what cannot be read right now would count as empty from here on.
            self._recent = {each: deque(maxlen=_REMEMBERED) for each in File}
            self._remember(record for record in records if record.sequence <= self.ledger.sequence)
        return self._recent[file]

    def _remember(self, records: Iterable[JournalRecord]) -> None:
        if self._recent is not None:
            for record in records:
                for file, change in record.files.items():
                    self._recent[file].append(change)

    def _from_splices(self, file: File, wanted: str) -> str | None:
        try:
            changes = [
                record.files[file] for record in self.journal.read()[0] if file in record.files
            ]
        except (
            JournalError
        ):  # damage before the checkpoint: doctor tells; here the text is just not known
            return None
        for index in reversed(range(len(changes))):
            text = self._kept(file, changes[index].before)
            if text is not None:
                return _led_to(wanted, text, changes[index:])
        return None


def _led_to(wanted: str, text: str, changes: Iterable[FileChange]) -> str | None:
    """The text of an etag that the first of these changes leads to; `None` where they lead to none."""
    for change in changes:
        try:
            text = spliced(text, change.splices)
        except ValueError:  # records between them are lost
            return None
        if change.after == wanted:
            return text if etag(text) == wanted else None
    return None


def fresh_ledger(transcript: Transcript, history_end: datetime) -> Ledger:
    """A ledger for a channel whose own state is gone: what HISTORY.md covers was consolidated."""
    covered = 0
    for message in transcript.messages():
        if message.time is not None and message.time <= history_end:
            covered = message.number
    return Ledger(cursor=covered, boundary=covered, refreshed=covered, epoch_start=covered)


def _without_beginning(past: Iterable[PastText]) -> Iterator[PastText]:
    """The texts but for one without a line at the end: so a file begins, and nothing is from before it was emptied."""
    blank: PastText | None = None
    for number, each in enumerate(past):
        if blank is not None:
            yield blank
        is_blank = number > 0 and not any(map(str.strip, each.lines))
        blank = each if is_blank else None
        if blank is None:
            yield each
