"""Expire: what has had its time leaves MEMORY.md for the archive, by the calendar and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Invalidate, Trust
from pipimem.recall.items import aware

# DESIGN §8: days after which an inferred entry that nobody asks for is stale. Constraints and decisions hold until
# somebody says otherwise, and what stands under a heading of people's own is theirs to judge.
_DAYS: Mapping[Kind, int] = {
    Kind.IDENTITY: 365,
    Kind.PREFERENCE: 365,
    Kind.FACT: 180,
    Kind.LESSON: 180,
    Kind.OPEN_LOOP: 90,
    Kind.ONGOING: 30,
}
# Each recall adds half the time, up to twice; at the third an entry has proved itself.
_BOOST, _MOST_BOOST = 0.5, 2.0
_PROVED = 3
_DATED = "it held until"
# How people say that an entry stays whatever the calendar says.
_PIN = re.compile(r"📌|#pin(?:ned)?\b", re.IGNORECASE)


def expired(notes: Notes, now: datetime) -> Decision:
    """The decision that takes out all whose probation, date or retention is over."""
    operations = tuple(overdue(notes, now))
    reasons = dict.fromkeys(op.reason.partition(":")[0] for op in operations)
    return Decision("expire", Author.RULE, operations, why=", ".join(reasons))


def overdue(notes: Notes, now: datetime) -> Iterator[Invalidate]:
    """The operations of `expired`, in the order of the file; the gate asks for the first."""
    for entry in notes.memory.entries:
        record = notes.ledger.records.get(entry.id)
        if not entry.bullet or entry.ordinal > 1 or record is None or record.trust is Trust.HUMAN:
            continue
        if reason := _ended(record, now) or _stale(entry, record, now):
            yield Invalidate(entry.target, reason, still_so=True, archived=True)


def is_dated(op: Invalidate) -> bool:
    """Whether an entry goes because its own date is past: then it is over, whoever asks for it."""
    return op.reason.startswith(_DATED)


def _ended(record: Record, now: datetime) -> str:
    if record.expires and date.fromisoformat(record.expires) < now.date():
        return f"{_DATED} {record.expires}"
    if record.probation_until and not record.recalls and aware(datetime.fromisoformat(record.probation_until)) <= now:
        return "its probation ended without a recall"
    return ""


def _stale(entry: Entry, record: Record, now: datetime) -> str:
    """Why an inferred entry is stale; nothing while its time runs, and for what is immune."""
    kind = kind_of(entry.section)
    seen = [aware(datetime.fromisoformat(time)) for time in (record.when, record.learnt, record.recalled) if time]
    if record.trust is not Trust.INFERRED or record.probation_until or kind is None or kind not in _DAYS or not seen:
        return ""
    if record.recalls >= _PROVED or _PIN.search(entry.text):
        return ""
    days = _DAYS[kind] * min(_MOST_BOOST, 1 + _BOOST * record.recalls)
    return f"stale: nobody came back to it for {days:.0f} days" if max(seen) + timedelta(days=days) <= now else ""
