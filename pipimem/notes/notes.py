"""A channel's notes as one value: the texts as they stand, their entries, and the ledger that fits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from pipimem.notes.entry import Entry, entries
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger
from pipimem.notes.operations import Operation, Target
from pipimem.text import markdown


def etag(text: str) -> str:
    """The mark of one exact text: two texts with the same etag are the same text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Note:
    """One file as it was read; an absent file is an empty text."""

    file: File
    text: str
    document: markdown.Document
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, file: File, text: str, key: bytes) -> Note:
        """The note that a text makes under the channel's key."""
        document = markdown.parsed(text)
        return cls(file, text, document, entries(document, key, file))

    @property
    def etag(self) -> str:
        """The mark of its text."""
        return etag(self.text)


@dataclass(frozen=True, slots=True)
class Notes:
    """SESSION, MEMORY and HISTORY of one channel, the workspace's shared MEMORY, and the ledger."""

    key: bytes
    session: Note
    memory: Note
    history: Note
    workspace: Note
    ledger: Ledger

    def note(self, file: File) -> Note:
        """The note of a file; the archive is not among them."""
        match file:
            case File.SESSION:
                return self.session
            case File.MEMORY:
                return self.memory
            case File.HISTORY:
                return self.history
            case File.ARCHIVE:
                raise KeyError(file)

    def having(self, note: Note) -> Notes:
        """The notes with another text of one file; the archive is not among them."""
        match note.file:
            case File.SESSION:
                return replace(self, session=note)
            case File.MEMORY:
                return replace(self, memory=note)
            case File.HISTORY:
                return replace(self, history=note)
            case File.ARCHIVE:
                raise KeyError(note.file)

    def find(self, target: Target) -> Entry | None:
        """The entry an operation means, `None` when a person has since reworded, moved or removed it."""
        return next(
            (
                entry
                for entry in self.note(target.file).entries
                if entry.bullet
                and entry.id == target.id
                and entry.section == target.section
                and entry.ordinal == target.ordinal
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that was not carried out, and why."""

    operation: Operation
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done, as the journal and `pipimem log` tell it."""

    verb: str  # added, confirmed, superseded, moved, invalidated, section, block, folded, edited
    file: File
    section: str = ""
    before: str = ""
    after: str = ""
    id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision makes of the notes: the new texts (only those that change), what was done, what was refused.

    `archived` is text to put at the end of the archive.
    """

    texts: Mapping[File, str] = field(default_factory=dict)
    archived: str = ""
    delta: Delta = field(default_factory=Delta)
    changes: tuple[Change, ...] = ()
    refused: tuple[Refusal, ...] = ()
