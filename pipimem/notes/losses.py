"""What models took out of MEMORY.md in the last 30 days, and whether they may take out more.

Each run is bounded by `guards`; this is the bound over many runs. For every day of the last 30 days: of
the entries that stood on it, models may have taken out at most half by now. What a person typed is no
part of the count, for no model may touch it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import date, datetime

from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.ledger import Loss, Record
from pipimem.notes.notes import Notes, Refusal
from pipimem.notes.operations import (
    Add,
    Author,
    Decision,
    Invalidate,
    Operation,
    Supersede,
    Target,
    Trust,
)
from pipimem.text.dates.bounds import days_later
from pipimem.text.similarity import bigrams, share_in

DAYS = 30
_MOST = 0.5
# Half of a single entry is none: of one or two entries, one may go.
_AT_LEAST = 1.0


def within_bound(
    notes: Notes, decision: Decision, now: datetime
) -> tuple[Decision, tuple[Refusal, ...]]:
    """The decision without the operations of a model that would take out too much, and these as refusals.

    A newer value that may not replace the older one is added beside it: nobody's word is lost.
    """
    if decision.author is not Author.MODEL:
        return decision, ()
    today = now.date()
    before = counted(notes, today)
    days = _standing(notes, today)
    allowed: list[Loss] = []
    kept: list[Operation] = []
    refused: list[Refusal] = []
    for operation in decision.operations:
        fresh = losses_by(notes, operation, now)
        if not fresh or _fits(before, [*allowed, *fresh], days, today):
            allowed.extend(fresh)
            kept.append(operation)
            continue
        refused.append(Refusal(operation, _reason([*before, *allowed], today)))
        if isinstance(operation, Supersede) and operation.evidence.sources:
            kept.append(_beside(notes, operation))
    if not refused:
        return decision, ()
    return decision.with_operations(kept), tuple(refused)


def is_used_up(notes: Notes, today: date) -> bool:
    """Whether models have taken out so much that not even one more whole entry may go."""
    losses = counted(notes, today)
    if not losses:
        return False
    days = _standing(notes, today)
    oldest = min([*days, *(_day(loss.since) for loss in losses)])
    one_more = Loss("", today.isoformat(), oldest.isoformat(), lost=1.0, gone=0)
    return not _fits(losses, [one_more], days, today)


def reopens(notes: Notes, today: date) -> date:
    """The first day on which the oldest of today's counted losses does not count any more."""
    oldest = min((_day(loss.time) for loss in counted(notes, today)), default=today)
    return days_later(oldest, DAYS + 1)


def counted(notes: Notes, today: date) -> list[Loss]:
    """The losses of the last 30 days whose entries do not stand again."""
    standing = {entry.id for entry in notes.memory.entries if entry.bullet}
    first = days_later(today, -DAYS)
    return [
        loss for loss in notes.ledger.losses if _day(loss.time) >= first and loss.id not in standing
    ]


def losses_by(notes: Notes, operation: Operation, now: datetime) -> list[Loss]:
    """What an operation would take out: one `Loss` for each entry of which characters would be gone."""
    match operation:
        case Invalidate(target=target):
            return _losses(notes, (target,), "", now)
        case Supersede(targets=targets, text=text):
            return _losses(notes, targets, text, now)
        case _:
            return []


def since(record: Record) -> str:
    """When the first of the wordings that an entry goes back to came in, ISO 8601; empty where unknown."""
    return record.since or record.when


def _losses(notes: Notes, targets: Sequence[Target], text: str, now: datetime) -> list[Loss]:
    found: list[Loss] = []
    kept = bigrams(text)
    for target in targets:
        entry, record = notes.find(target), notes.record(target.id)
        if entry is None or record is None or record.trust is Trust.HUMAN:
            continue
        share = 1 - share_in(bigrams(entry.text), kept) if text else 1.0
        if share:
            day = now.date().isoformat()
            stood = min(since(record)[:10] or day, day)
            lost = round(share * record.stands_for, 2)
            found.append(Loss(entry.id, day, stood, lost, 0 if text else record.stands_for))
    return found


def _standing(notes: Notes, today: date) -> list[date]:
    """For each entry that a model may touch, the day since which it stands, in order.

    One that stands for several entries is in it so many times.
    """
    days: list[date] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is not None and record.trust is not Trust.HUMAN:
            days += [min(_day(since(record), today), today)] * record.stands_for
    return sorted(days)


def _fits(before: Sequence[Loss], fresh: Sequence[Loss], days: Sequence[date], today: date) -> bool:
    """Whether the bound holds with the fresh losses; `days` are those of the entries that stand without them."""
    first = days_later(today, -DAYS)
    # Between these days nothing is added to what was lost: the bound is tightest on them.
    moments = {max(first, _day(loss.since)) for loss in (*before, *fresh)}
    return all(_fits_on(moment, before, fresh, days) for moment in moments)


def _fits_on(
    moment: date, before: Sequence[Loss], fresh: Sequence[Loss], days: Sequence[date]
) -> bool:
    """Whether at most half of what stood on a day would be lost since."""
    earlier = [loss for loss in before if _counts(loss, moment)]
    lost = sum(loss.lost for loss in (*earlier, *fresh) if _counts(loss, moment))
    stood = bisect_right(days, moment) + sum(loss.gone for loss in earlier)
    return lost <= max(_AT_LEAST, stood * _MOST)


def _counts(loss: Loss, moment: date) -> bool:
    """Whether it took out something that stood on a day."""
    return _day(loss.since) <= moment <= _day(loss.time)


def _beside(notes: Notes, newer: Supersede) -> Add:
    """A newer value as an entry of its own."""
    entry = notes.find(newer.targets[0])
    kind = newer.kind or (kind_of(entry.section) if entry else None) or Kind.FACT
    return Add(kind, newer.text, newer.trust, newer.evidence, expires=newer.expires)


def _reason(losses: Iterable[Loss], today: date) -> str:
    oldest = min((_day(loss.time) for loss in losses), default=today)
    until = days_later(oldest, DAYS + 1)
    return (
        f"models have taken out half of what stood; only a person may take out more before {until}"
    )


def _day(stamp: str, unknown: date = date.min) -> date:
    """The day of an ISO 8601 time."""
    try:
        return date.fromisoformat(stamp[:10])
    except ValueError:
        return unknown
