"""What the journal of a channel says: the ledger, and the text each file was left with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import JournalError
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import etag
from pipimem.store.commits.ancestry import Known, Stood
from pipimem.store.commits.lineage import Lineage, text_before
from pipimem.store.disk.booting import boot_id
from pipimem.store.disk.calls import sync_folder
from pipimem.store.disk.sightings import Unread
from pipimem.store.journal import ledger_file
from pipimem.store.journal.journal import NOWHERE, Journal, Place
from pipimem.store.journal.ledger_file import Checkpoint
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.journal.versions import Versions
from pipimem.store.transcript import Transcript
from pipimem.text.splices import spliced

# An editor may have loaded a text that many changes ago; older ones are found among the versions.
_REMEMBERED = 200
# A start folds at most so many records; a checkpoint costs some ms.
_CHECKPOINT_AFTER = 200


@dataclass(slots=True)
class State:
    """The ledger as of the newest record, kept up with records that other processes add."""

    folder: Path
    journal: Journal
    versions: Versions
    unread: Unread
    ledger: Ledger = field(default_factory=Ledger)
    place: Place = NOWHERE
    # By file the changes since the checkpoint, the files among them that were changed before the system was last
    # started, and the last record that added to the archive.
    since: dict[File, list[FileChange]] = field(default_factory=dict)
    unsettled: set[File] = field(default_factory=set)
    archived: JournalRecord | None = None
    boot: str = field(default_factory=boot_id)
    _recent: dict[File, deque[FileChange]] | None = None
    _since: int = 0
    _known: dict[File, tuple[str, str]] = field(default_factory=dict)
    _anchored: set[File] = field(default_factory=set)
    _lineages: dict[File, Lineage] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path, transcript: Transcript, history_end: Callable[[], datetime | None]) -> State:
        """The state a channel's folder tells.

        Without one, what HISTORY.md and the transcript let conclude.
        """
        own = folder / ".pipimem"
        state = cls(folder, Journal(own), Versions(own / "versions"), Unread(own / "unread"))
        state._start()
        if state.ledger.sequence == 0 and transcript.last_number and (covered := history_end()):
            state.ledger = fresh_ledger(transcript, covered)
        return state

    @property
    def is_due(self) -> bool:
        """Whether enough records have gathered for a checkpoint."""
        return self._since >= _CHECKPOINT_AFTER

    @property
    def has_news(self) -> bool:
        """Whether there are records since the checkpoint."""
        return self._since > 0

    def catch_up(self) -> None:
        """Folds in what other processes committed."""
        place = self.journal.place()
        if place == self.place:
            return
        if place.inode == self.place.inode and place.offset > self.place.offset:
            records, self.place = self.journal.read(self.place.offset)
            self._fold(records)
        else:  # another process rotated the journal, or forgot something in it
            self._start()

    def append(self, records: Iterable[JournalRecord], texts: Mapping[File, str]) -> None:
        """Writes records, durable when this returns, and takes in the texts they leave their files with."""
        stamped = [replace(record, boot=self.boot) if record.files else record for record in records]
        self.place = self.journal.append(stamped, self.place)
        self._fold(stamped)
        for file, text in texts.items():
            self._known[file] = (etag(text), text)

    def known_text(self, file: File, disk: str) -> str | None:
        """The text the journal left a file with, `None` where none is known; `disk` spares a look-up."""
        wanted = self.ledger.etags.get(file)
        if wanted is None:
            return None
        if file not in self._known or self._known[file][0] != wanted:
            text = disk if etag(disk) == wanted else self._kept(file, wanted)
            text = self._from_splices(file, wanted) if text is None else text
            if text is None:
                return None
            self._known[file] = (wanted, text)
        known = self._known[file][1]
        return disk if disk == known else known

    def stood(self, file: File, *, newest: bool | None, before: str = "") -> Known:
        """The texts that stood in a file, the newest first, as far back as the journal and the versions tell.

        `newest`: whether somebody saw the one the journal left it with; `None` where that never reached the
        file. With `before`, the first digits of an etag, only texts older than that one.
        """

        def told(known: Known) -> Iterator[Stood]:
            lineage = self._lineages.setdefault(file, Lineage(file, self.versions))
            mark, left = self.ledger.etags.get(file, ""), self.known_text(file, "")
            return lineage.stood(mark, left, self._changes(file), self.unread.etags(file), newest, before, known)

        return Known(told)

    def may_lie(self, file: File) -> frozenset[str]:
        """The etags of what may lie in a file that its newest text has not reached."""
        marks: set[str] = set()
        for change in reversed(self._changes(file)):
            marks |= {change.before, change.found}
            if not change.unseen:
                break
        return frozenset(marks)

    def may_be_torn(self, file: File, data: bytes) -> bool:
        """Whether a power cut may have left these bytes of a text that stood in the file since the checkpoint.

        An older one, the first part of one, or nothing.
        """
        left = data.rstrip(b"\0")
        return any(text.encode().startswith(left) for text in self._since_checkpoint(file))

    def is_known(self, file: File, digits: str) -> bool:
        """Whether the journal has a text of the file whose etag begins so."""
        return any(change.after.startswith(digits) for change in self._changes(file))

    def anchor(self, file: File, before: str) -> None:
        """Sees to it that the text which the next splices start from is kept, and stays after a power cut.

        A checkpoint keeps it; only the first change of a file comes without one.
        """
        if file not in self._anchored and before:
            self.versions.keep(file, before)
        self._anchored.add(file)

    def checkpoint(self, texts: Mapping[File, str], now: datetime | None) -> None:
        """Makes the files alone sufficient: names synced, ledger and texts kept. The files themselves are synced."""
        texts = {file: text for file, text in texts.items() if self.ledger.etags.get(file) == etag(text)}
        for file, text in texts.items():
            self.versions.keep(file, text, synced=False)
        sync_folder(self.folder)
        ledger_file.save(self._ledger_path, Checkpoint(self.ledger, self.place.offset, texts))
        self.journal.rotate(now)
        self.versions.prune(now)
        self._begin(texts)
        if self.journal.place().inode != self.place.inode:
            self.place = self.journal.place()

    @property
    def _ledger_path(self) -> Path:
        return self.folder / ".pipimem" / "ledger.json"

    def _start(self) -> None:
        self._recent = None
        self._known.clear()
        self._lineages.clear()
        checkpoint = ledger_file.load(self._ledger_path)
        self._begin(checkpoint.texts if checkpoint else ())
        if checkpoint is None:
            # The folds of set-aside parts first; the part at hand is read below like any other.
            self.ledger = Ledger()
            older = self.journal.records() if len(self.journal.parts()) > 1 else iter(())
            self._fold(older)
            start = 0
        else:
            self.ledger = checkpoint.ledger
            known = self.journal.ends_with(checkpoint.offset, checkpoint.ledger.sequence)
            start = checkpoint.offset if known else 0
        records, self.place = self.journal.read(start)
        self._fold(records)

    def _fold(self, records: Iterable[JournalRecord]) -> None:
        for record in records:
            if record.sequence <= self.ledger.sequence:
                continue
            self.ledger = self.ledger.after(record.delta, record.sequence)
            for file, change in record.files.items():
                self.since.setdefault(file, []).append(change)
            if record.boot not in ("", self.boot):
                self.unsettled.update(record.files)
            self._remember([record])
            self._since += 1
            if record.archived:
                self.archived = record

    def _begin(self, kept: Iterable[File]) -> None:
        """From a checkpoint on that kept the texts of these files."""
        self._since, self.archived = 0, None
        self.since.clear()
        self.unsettled.clear()
        self._anchored = set(kept)

    def _kept(self, file: File, mark: str) -> str | None:
        """The text of this etag, as a version or in the checkpoint: versions are not synced."""
        text = self.versions.text(file, mark)
        if text is None and (checkpoint := ledger_file.load(self._ledger_path)) is not None:
            text = checkpoint.texts.get(file)
        return text if text is not None and etag(text) == mark else None

    def _since_checkpoint(self, file: File) -> Iterator[str]:
        """The texts that stood in a file, or were to, since the checkpoint, the newest first."""
        text = self.known_text(file, "")
        for change in reversed(self.since.get(file, ())):
            if text is None:
                return
            yield text
            found = self.versions.text(file, change.found) if change.found else None
            if found is not None:
                yield found
            text = text_before(text, change)
        if text is not None:
            yield text

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
                    if file in self._lineages:
                        self._lineages[file].follow(change)

    def _from_splices(self, file: File, wanted: str) -> str | None:
        try:
            changes = [record.files[file] for record in self.journal.read()[0] if file in record.files]
        except JournalError:  # damage before the checkpoint: doctor tells; here the text is just not known
            return None
        for index in reversed(range(len(changes))):
            text = self._kept(file, changes[index].before)
            if text is not None:
                for change in changes[index:]:
                    text = spliced(text, change.splices)
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
