"""Sentences on edits by hand: files that shrank, and forgotten lines that came back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from pipimem.notes.operations import Author
from pipimem.store.commit.manual_edits import removed_again
from pipimem.store.commit.past import Past, record_time
from pipimem.store.history.undo import taken_back


class EditNotices(Struct, frozen=True):
    """Sentences: `shrunk` on files that lost more than half of their text.

    `brought_back` on forgotten lines that a save had, and that were removed again.
    """

    shrunk: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()


def edit_notices(channel: str, past: Past, since: datetime) -> EditNotices:
    """The sentences on the edits since then, and on a save that no record has taken in yet.

    A file that shrank is left out once that was undone.
    """
    undone = taken_back(past.records)
    shrunk: list[str] = []
    back: list[str] = []
    for record in past.records:
        if record.author is not Author.EDITOR or record_time(record) < since:
            continue
        if record.sequence not in undone:
            undo = f"`pipimem undo '{channel}' {record.sequence}` brings it back."
            shrunk += [f"{note} {undo}" for note in record.notes]
        if record.why:
            back.append(f"{record.time}: {record.why}")
    return EditNotices(tuple(shrunk), (*back, *_unrecorded(past)))


def _unrecorded(past: Past) -> Iterator[str]:
    """Yield the sentences on saves that no record has taken in yet."""
    for file, removed in past.unrecorded.items():
        yield removed_again(file, removed)
