"""What people changed by hand, as a record of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipimem.notes.files import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Change, etag
from pipimem.notes.operations import Author
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.journal.versions import NAME_LENGTH
from pipimem.text.splices import splices_between


def edit_record(
    sequence: int,
    time: str,
    changes: Mapping[File, FileChange],
    delta: Delta,
    left: Mapping[File, str],
    taken_out: Mapping[File, int],
) -> JournalRecord:
    """The record of changes by hand to the texts `left`; `delta` is what they do to the ledger.

    `taken_out` says how many forgotten lines each save would have brought back.
    """
    shrunk = [_shrunk(file, change, left[file]) for file, change in changes.items()]
    return JournalRecord(
        sequence, time, "edit", Author.EDITOR,
        why=" ".join(brought_back(file, count) for file, count in taken_out.items() if count),
        changes=tuple(_described(file, change) for file, change in changes.items()), files=changes,
        notes=tuple(filter(None, shrunk)),
        delta=replace(delta, etags={file: change.after for file, change in changes.items()}),
    )  # fmt: skip


def file_change(
    before: str,
    after: str,
    *,
    found: str | None = None,
    unseen: bool = False,
) -> FileChange:
    """From one text to another; `found` is a person's text that was merged into the other."""
    change = FileChange(etag(before), etag(after), splices_between(before, after), unseen=unseen)
    if found is None:
        return change
    return replace(change, found=etag(found), found_splices=splices_between(after, found))


def brought_back(file: File, count: int) -> str:
    """A sentence: a save had so many lines that were forgotten before, and they do not stay."""
    had = "a line that was" if count == 1 else f"{count} lines that were"
    return (
        f"{file} was saved from a text of before a forgetting, with {had} forgotten. That was taken out again; "
        "to have it back, type it anew, or use `pipimem remember`."
    )


def _described(file: File, change: FileChange) -> Change:
    gone = sum(len(splice.removed) for splice in change.splices)
    came = sum(len(splice.added) for splice in change.splices)
    reason = f"{gone} lines out, {came} lines in"
    kept = sum(1 for splice in change.found_splices for line in splice.removed if line.strip())
    if kept:
        reason += f"; {kept} that the save lacked were kept, for an older buffer lacks them too: delete them again"
    return Change("edited", file, "", reason=reason)


def _shrunk(file: File, change: FileChange, left: str) -> str:
    """A sentence where a hand took out more than half of a file: it is done, but not in silence."""
    gone = sum(len(line) for splice in change.splices for line in splice.removed)
    came = sum(len(line) for splice in change.splices for line in splice.added)
    if 2 * (gone - came) <= len(left):
        return ""
    sizes = f"{len(left)} characters before, {len(left) - gone + came} now"
    kept = f".pipimem/versions/{file}.{change.before[:NAME_LENGTH]}"
    return f"{file} lost more than half of its text by hand ({sizes}). The text before is kept as {kept}."
