"""What people changed by hand: the notes with and without it, and its record in the journal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Change
from pipimem.store.disk.files import TextFile
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.journal.text_versions import NAME_LENGTH
from pipimem.store.merge.forgotten_lines import IncomingText
from pipimem.text.markdown.line_edits import splices_between


class View(Struct, frozen=True):
    """The notes of one moment.

    `base` are the notes as the journal left them, `current` with what people changed since, in the
    files `edited`; `delta` is what that does to the ledger. `disk` has the files as they were read,
    `incoming` what of them is merged. A file in `locked` is being written by an editor: it counts
    as the journal left it.
    """

    base: Notes
    current: Notes
    edited: tuple[File, ...]
    delta: Delta
    disk: Mapping[File, TextFile]
    locked: frozenset[File]
    incoming: Mapping[File, IncomingText]

    def is_on_disk(self, file: File) -> bool:
        """Whether the file on the disk has the current text."""
        return file not in self.locked and self.disk[file].text == self.current.note(file).text


class ManualEdit(Struct, frozen=True):
    """What people changed in one file, from the text `before` to the text `after`.

    `found` is the text that was merged into it, `None` where the file has `after` itself; `removed`
    is how many forgotten lines it would have brought back. `unseen`: `before` never stood in the
    file.
    """

    before: str
    after: str
    found: str | None
    removed: int
    unseen: bool


def edit_record(
    sequence: int, now: datetime, edits: Mapping[File, ManualEdit], delta: Delta
) -> JournalRecord:
    """Returns the record of some edits; `delta` is what they do to the ledger."""
    changes = {
        file: file_change(edit.before, edit.after, found=edit.found, unseen=edit.unseen)
        for file, edit in edits.items()
    }
    shrunk = (_shrunk(file, change, edits[file].before) for file, change in changes.items())
    removed = {file: edit.removed for file, edit in edits.items() if edit.removed}
    return JournalRecord(
        sequence,
        now.isoformat(timespec="seconds"),
        "edit",
        Author.EDITOR,
        why=" ".join(removed_again(file, count) for file, count in removed.items()),
        changes=tuple(described_edit(file, change) for file, change in changes.items()),
        files=changes,
        notes=tuple(filter(None, shrunk)),
        delta=replace(delta, etags={file: change.after for file, change in changes.items()}),
    )


def file_change(
    before: str,
    after: str,
    *,
    found: str | None = None,
    unseen: bool = False,
) -> FileChange:
    """Returns the change from one text to another.

    `found` is a person's text that was merged into the other one.
    """
    change = FileChange(etag(before), etag(after), splices_between(before, after), unseen=unseen)
    if found is None:
        return change
    return replace(change, found=etag(found), found_splices=splices_between(after, found))


def removed_again(file: File, count: int) -> str:
    """Says that a save had so many lines that were forgotten before, and that they do not stay."""
    had = "a line that was" if count == 1 else f"{count} lines that were"
    return (
        f"{file} was saved from a text of before a forgetting, with {had} forgotten. "
        "That was taken out again; to have it back, type it anew, or use `pipimem remember`."
    )


def described_edit(file: File, change: FileChange) -> Change:
    """What an edit did, as the log tells it: how many lines went and came."""
    removed = sum(len(splice.removed) for splice in change.splices)
    added = sum(len(splice.added) for splice in change.splices)
    reason = f"{removed} lines out, {added} lines in"
    kept = sum(1 for splice in change.found_splices for line in splice.removed if line.strip())
    if kept:
        reason += (
            f"; {kept} that the save lacked were kept, for an older buffer lacks them too: "
            "delete them again"
        )
    return Change("edited", file, "", reason=reason)


def _shrunk(file: File, change: FileChange, before: str) -> str:
    """Says that a hand took out more than half of a file; empty where it took out less."""
    removed = sum(len(line) for splice in change.splices for line in splice.removed)
    added = sum(len(line) for splice in change.splices for line in splice.added)
    if 2 * (removed - added) <= len(before):
        return ""
    sizes = f"{len(before)} characters before, {len(before) - removed + added} now"
    kept = f".pipimem/versions/{file}.{change.before[:NAME_LENGTH]}"
    return (
        f"{file} lost more than half of its text by hand ({sizes}). "
        f"The text before is kept as {kept}."
    )
