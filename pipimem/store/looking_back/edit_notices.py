"""What a person is told of the edits by hand: files that shrank, and forgotten lines that an editor brought back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipimem.notes.notes import etag
from pipimem.notes.operations import Author
from pipimem.store.commits.desk import View
from pipimem.store.commits.edits import brought_back
from pipimem.store.journal.records import JournalRecord
from pipimem.store.looking_back.undoing import taken_back
from pipimem.text.dates.bounds import local


@dataclass(frozen=True, slots=True)
class EditNotices:
    """Sentences: `shrunk` of files that lost more than half of their text, `brought_back` of forgotten lines."""

    shrunk: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()


def edit_notices(
    channel: str, records: Sequence[JournalRecord], view: View, since: datetime
) -> EditNotices:
    """The sentences on the edits since then, and on a save in `view` that no record has taken in yet.

    A file that shrank is not told once that was taken back.
    """
    gone = taken_back(records)
    shrunk: list[str] = []
    back: list[str] = []
    for record in records:
        is_recent = local(datetime.fromisoformat(record.time)) >= since
        if record.author is not Author.EDITOR or not is_recent:
            continue
        if record.sequence not in gone:
            undo = f"`pipimem undo '{channel}' {record.sequence}` brings it back."
            shrunk += [f"{note} {undo}" for note in record.notes]
        if record.why:
            back.append(f"{record.time}: {record.why}")
    known = {change.found for record in records for change in record.files.values()}
    for file, save in view.saves.items():
        if save.taken_out and etag(save.marked) not in known:
            back.append(brought_back(file, save.taken_out))
    return EditNotices(tuple(shrunk), tuple(back))
