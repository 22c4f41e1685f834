"""What one commit did, as the journal keeps it, and the place where it ends there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Delta
from pipimem.notes.operations import Author, Change, Tokens
from pipimem.text.json_lines import checksum_of
from pipimem.text.markdown.line_edits import Splice, spliced

FORMAT = 2
"""The number in `channel.json`, `ledger.json` and the journal's first line."""
FORGET = "forget"
"""The task of a forgetting: its record begins a journal, and undo reaches no further back."""


class FileChange(Struct, frozen=True):
    """One file from one text to another: the etags of both, and the lines that differ.

    `found` is the etag of a text of a person's that stood in the file and was merged with `before`;
    `found_splices` lead to it from the text after the change. `unseen`: `before` itself never stood
    in the file, so nobody can have changed it there.
    """

    before: str
    after: str
    splices: tuple[Splice, ...]
    found: str = ""
    unseen: bool = False
    found_splices: tuple[Splice, ...] = ()


def spliced_to(wanted: str, text: str, changes: Iterable[FileChange]) -> str | None:
    """The text of an etag that the first of these changes leads to, `None` where none does."""
    for change in changes:
        try:
            text = spliced(text, change.splices)
        except ValueError:  # records between them are lost
            return None
        if change.after == wanted:
            return text if etag(text) == wanted else None
    return None


class RefusedLine(Struct, frozen=True):
    """An operation that was not carried out: its name, the text it was about, and why."""

    operation: str
    text: str
    reason: str


class JournalRecord(Struct, frozen=True):
    """One record of the journal; `time` is ISO 8601 with offset.

    `archived` went to the end of the archive, which had `archive_size` bytes before, of this
    `archive_etag`. A record that `goes_on` counts only with the one after it, which `follows`: both
    were written as one. `fence` is the number under which a host of a fleet wrote it.
    """

    sequence: int = field(name="seq")
    time: str = field(name="ts")
    task: str
    author: Author
    actor: str = ""
    why: str = ""
    correlation: str = ""
    changes: tuple[Change, ...] = ()
    refused: tuple[RefusedLine, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[File, FileChange] = field(default_factory=dict)
    archived: str = ""
    archive_size: int = 0
    delta: Delta = field(default_factory=Delta)
    tokens: Tokens | None = None
    goes_on: bool = False
    follows: bool = False
    archive_etag: str = ""
    fence: int = 0


class Place(Struct, frozen=True):
    """The end of a record: the name of its journal, the byte after it, and its checksum.

    A journal of format 1 has no name, and its checksums do not go over the ones before. It is gone
    on with as it is until a checkpoint sets it aside.
    """

    journal: str = ""
    offset: int = 0
    checksum: str = ""

    @property
    def is_of_format_1(self) -> bool:
        """Whether it is a place in a journal of that format."""
        return self.offset > 0 and not self.journal

    @property
    def chained(self) -> str:
        """The checksum that the one of the next record goes over."""
        return self.checksum if self.journal else ""

    def after(self, data: bytes) -> Place:
        """Where the line ends that begins here."""
        return Place(self.journal, self.offset + len(data), checksum_of(data))


NOWHERE = Place()
"""The end of a journal that is not there."""
