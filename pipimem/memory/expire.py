"""Expire: what was kept on probation and never came up again leaves, by the calendar and without a model."""

from __future__ import annotations

from datetime import datetime

from pipimem.memory.known import targets
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Invalidate


def expired(notes: Notes, now: datetime) -> Decision:
    """The decision that takes out every entry whose probation is over; one recall would have ended it."""
    over = tuple(
        Invalidate(target, "its probation ended without a recall")
        for name, target in targets(notes).items()
        if (record := notes.ledger.records.get(name))
        and record.probation_until
        and not record.recalls
        and datetime.fromisoformat(record.probation_until) <= now
    )
    return Decision("expire", Author.RULE, over, why="probation")
