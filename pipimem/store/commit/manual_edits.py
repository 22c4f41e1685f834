"""What people changed by hand: the notes with and without it, and the change that records it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from msgspec import Struct

from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Change
from pipimem.state.changes import ChangeRecord, FileChange
from pipimem.store.disk.files import TextFile
from pipimem.store.merge.forgotten_lines import IncomingText
from pipimem.text.markdown.line_edits import splices_between


class View(Struct, frozen=True):
    """The notes of one moment.

    `base` are the notes as the newest change left them, `current` with what people changed since,
    in the files `edited`; `delta` is what that does to the ledger. `disk` has the files as they
    were read, `incoming` what of them is merged. A file in `locked` is being written by an editor,
    or is no text: it counts as the newest change left it.
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

    `found` is the text that stood in the file, `saved` what of it was merged; both are `after`
    where it was taken as it stands. `removed` is how many forgotten lines it had.
    """

    before: str
    after: str
    found: str
    saved: str
    removed: int = 0


def edit_record(
    sequence: int,
    now: datetime,
    edits: Mapping[File, ManualEdit],
    delta: Delta,
    etag: Callable[[str], str],
) -> ChangeRecord:
    """Return the change that some edits are; `delta` is what they do to the ledger."""
    removed = {file: edit.removed for file, edit in edits.items() if edit.removed}
    shrunk = (_shrunk(file, edit) for file, edit in edits.items())
    return ChangeRecord(
        sequence,
        now.isoformat(timespec="seconds"),
        "edit",
        Author.EDITOR,
        why=" ".join(removed_again(file, count) for file, count in removed.items()),
        changes=tuple(
            described_edit(file, edit.before, edit.after, edit.saved)
            for file, edit in edits.items()
        ),
        files={file: _file_change(edit, etag) for file, edit in edits.items()},
        notes=tuple(filter(None, shrunk)),
        delta=delta,
    )


def _file_change(edit: ManualEdit, etag: Callable[[str], str]) -> FileChange:
    is_merged = edit.found != edit.after
    return FileChange(
        etag(edit.before),
        etag(edit.after),
        etag(edit.found),
        etag(edit.saved) if is_merged else "",
    )


def removed_again(file: File, count: int) -> str:
    """Says that a save had so many lines that were forgotten before, and that they do not stay."""
    had = "a line that was" if count == 1 else f"{count} lines that were"
    return (
        f"{file} was saved from a text of before a forgetting, with {had} forgotten. "
        "That was taken out again; to have it back, use `pipimem remember`, or type it a day later."
    )


def described_edit(file: File, before: str, after: str, saved: str) -> Change:
    """Say how many lines an edit took out and put in, as the log tells it."""
    splices = splices_between(before, after)
    removed = sum(len(splice.removed) for splice in splices)
    added = sum(len(splice.added) for splice in splices)
    reason = f"{removed} lines out, {added} lines in"
    kept = sum(
        1 for splice in splices_between(after, saved) for line in splice.removed if line.strip()
    )
    if kept:
        reason += (
            f"; {kept} that the save lacked were kept, for an older buffer lacks them too: "
            "delete them again"
        )
    return Change("edited", file, "", reason=reason)


def _shrunk(file: File, edit: ManualEdit) -> str:
    """Say that a hand took out more than half of a file; empty where it took out less."""
    before, after = len(edit.before), len(edit.after)
    if 2 * after >= before:
        return ""
    sizes = f"{before} characters before, {after} now"
    return f"{file} lost more than half of its text by hand ({sizes})."
