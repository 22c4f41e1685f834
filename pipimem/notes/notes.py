"""A channel's notes as one value: the texts, their entries and blocks, and the ledger of both."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from pipimem.notes.entry import Entry, entries
from pipimem.notes.headings import read_heading
from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Delta, Ledger, Record
from pipimem.notes.operations import Change, LeftOut, Operation, Target, targets_of
from pipimem.text.markdown import parser
from pipimem.text.markdown.parser import Section


class HistoryBlock(Struct, frozen=True):
    """A block: its heading word for word, the end of its time range, its month if it is a fold."""

    heading: str
    end: datetime | None
    month: str
    section: Section
    bullets: tuple[Entry, ...]


def blocks(note: Note) -> tuple[HistoryBlock, ...]:
    """The blocks of HISTORY.md in the order of the file; headings without bullets are none."""
    found = []
    # Both stand in the order of the file: a long history has thousands of either.
    starts = [entry.start for entry in note.entries]
    for section in note.document.sections:
        first, last = bisect_left(starts, section.start), bisect_left(starts, section.end)
        bullets = note.entries[first:last]
        if section.level and bullets:
            _, end, month, _ = read_heading(section.title)
            found.append(HistoryBlock(section.title, end, month, section, bullets))
    return tuple(found)


class Note(Struct, frozen=True):
    """One file as it was read; an absent file is an empty text."""

    file: File
    text: str
    document: parser.Document
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, file: File, text: str, key: bytes) -> Note:
        """The note that a text makes under the channel's key."""
        document = parser.parsed(text)
        return cls(file, text, document, entries(document, key, file))

    @property
    def etag(self) -> str:
        """The mark of its text."""
        return etag(self.text)


class Notes(Struct, frozen=True):
    """SESSION, MEMORY and HISTORY of one channel, the workspace's shared MEMORY, and the ledger.

    `is_dm` says that a host gave the channel the kind `dm`. `left_out` is what the newest
    consolidation did not keep.
    """

    key: bytes
    session: Note
    memory: Note
    history: Note
    workspace: Note
    ledger: Ledger
    is_dm: bool = False
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_direct(self) -> bool:
        """Whether one person, who is the bot's principal, speaks with it so far."""
        return self.is_dm and len(set(self.ledger.speakers) - {""}) <= 1

    def __repr__(self) -> str:
        return f"Notes({self.ledger})"  # the key is a secret

    def note(self, file: File) -> Note:
        """The note of a file; the archive is not among them."""
        return {File.SESSION: self.session, File.MEMORY: self.memory, File.HISTORY: self.history}[
            file
        ]

    def with_texts(self, texts: Mapping[File, str]) -> Notes:
        """The notes with other texts of some files; the archive is not among them."""
        read = {file: Note.read(file, text, self.key) for file, text in texts.items()}
        return replace(
            self,
            session=read.get(File.SESSION, self.session),
            memory=read.get(File.MEMORY, self.memory),
            history=read.get(File.HISTORY, self.history),
        )

    def after(self, outcome: Outcome) -> Notes:
        """The notes as they stand once an outcome is written."""
        return replace(self.with_texts(outcome.texts), ledger=self.ledger.after(outcome.delta))

    def find(self, target: Target) -> Entry | None:
        """The entry of a target, `None` if a person has reworded, moved or removed it since."""
        same = (
            entry
            for entry in self.note(target.file).entries
            if entry.id == target.id and entry.bullet
        )
        return next((entry for entry in same if entry.target == target), None)

    def entries_of(self, operation: Operation) -> list[Entry]:
        """The entries of MEMORY.md that an operation ends or moves, as far as they are there."""
        found = (self.find(target) for target in targets_of(operation))
        return [entry for entry in found if entry is not None]

    def record(self, name: str) -> Record | None:
        """What is known of an entry, `None` where a person wrote it."""
        return self.ledger.records.get(name)

    def awaiting(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Record]]:
        """Those of the entries that are quotes until another member agrees, with their records."""
        for entry in entries:
            record = self.record(entry.id)
            if entry.bullet and record and record.awaits_second_voice:
                yield entry, record


# Why an operation is refused that would learn a forgotten text again.
FORGOTTEN = "it was forgotten, and nobody said it again since"


class Refusal(Struct, frozen=True):
    """An operation that was not carried out, and why."""

    operation: Operation
    reason: str

    @property
    def text(self) -> str:
        """The text or title of the operation; empty if it was forgotten."""
        if self.reason == FORGOTTEN:
            return ""
        return getattr(self.operation, "text", "") or getattr(self.operation, "title", "")


class Outcome(Struct, frozen=True):
    """What a decision makes of the notes: new texts, what was done, what was refused.

    `texts` has only those that change. `archived` is text to put at the end of the archive.
    """

    texts: Mapping[File, str] = field(default_factory=dict)
    archived: str = ""
    delta: Delta = field(default_factory=Delta)
    changes: tuple[Change, ...] = ()
    refused: tuple[Refusal, ...] = ()
