"""Expire: what has had its time leaves MEMORY.md for the archive, by the calendar and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta

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


def next_end(notes: Notes, now: datetime) -> datetime | None:
    """When the first of the entries that still have time has had it, `None` where none will by the calendar."""
    ends = (
        end
        for entry in notes.memory.entries
        if entry.bullet and (record := notes.ledger.records.get(entry.id)) and record.trust is not Trust.HUMAN
        for end in (_dated_until(record, now), _on_probation_until(record), _fresh_until(entry, record))
        if end is not None and end > now
    )
    return min(ends, default=None)


def is_dated(op: Invalidate) -> bool:
    """Whether an entry goes because its own date is past: then it is over, whoever asks for it."""
    return op.reason.startswith(_DATED)


def _ended(record: Record, now: datetime) -> str:
    if (dated := _dated_until(record, now)) and dated <= now:
        return f"{_DATED} {record.expires}"
    if (probation := _on_probation_until(record)) and probation <= now:
        return "its probation ended without a recall"
    return ""


def _stale(entry: Entry, record: Record, now: datetime) -> str:
    fresh = _fresh_until(entry, record)
    return f"stale: nobody came back to it for {_days(entry, record):.0f} days" if fresh and fresh <= now else ""


def _dated_until(record: Record, now: datetime) -> datetime | None:
    """The end of the last day an entry holds, where people read the clock now."""
    if not record.expires:
        return None
    return datetime.combine(date.fromisoformat(record.expires) + timedelta(days=1), time.min, now.tzinfo)


def _on_probation_until(record: Record) -> datetime | None:
    if not record.probation_until or record.recalls:
        return None
    return aware(datetime.fromisoformat(record.probation_until))


def _fresh_until(entry: Entry, record: Record) -> datetime | None:
    """When an inferred entry is stale; `None` for what is immune."""
    seen = [aware(datetime.fromisoformat(when)) for when in (record.when, record.learnt, record.recalled) if when]
    if record.trust is not Trust.INFERRED or record.probation_until or kind_of(entry.section) not in _DAYS or not seen:
        return None
    if record.recalls >= _PROVED or _PIN.search(entry.text):
        return None
    return max(seen) + timedelta(days=_days(entry, record))


def _days(entry: Entry, record: Record) -> float:
    kind = kind_of(entry.section)
    return 0.0 if kind is None else _DAYS[kind] * min(_MOST_BOOST, 1 + _BOOST * record.recalls)
