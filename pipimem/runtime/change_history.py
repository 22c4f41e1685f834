"""Looking back at a channel's changes, and taking them back, without an event loop."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.store.commit.past import Past, Point
from pipimem.store.history.blame import Origin, origins
from pipimem.store.history.undo import Undone, changes_of, edits_after, restore, undo
from pipimem.store.journal.records import FORGET, JournalRecord

__all__ = [
    "JournalRecord",
    "Origin",
    "Past",
    "Point",
    "Undone",
    "changes_of",
    "edits_after",
    "forgotten_at",
    "origins",
    "restore",
    "undo",
]


def forgotten_at(records: Sequence[JournalRecord]) -> str:
    """The time of the forgetting that a journal begins with, empty where it begins otherwise."""
    return records[0].time if records and records[0].task == FORGET else ""
