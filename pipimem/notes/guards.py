"""What no model may do to a memory, checked against the text as it stands.

One run is bounded, and so are many runs together. For every day of the last 30 days: of the entries
that stood on it, models may have taken out at most half by now. What a person typed is no part of
the count, for no model may touch it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from msgspec.structs import replace

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Loss, Record
from pipimem.notes.notes import Notes, Refusal
from pipimem.notes.operations import (
    Add,
    Author,
    Decision,
    FoldBlocks,
    Invalidate,
    Move,
    Operation,
    Supersede,
    Target,
    Trust,
)
from pipimem.text.dates.bounds import days_later
from pipimem.text.words.reversals import is_reversed, new_values
from pipimem.text.words.similarity import bigrams, denies_the_same, share_in

# A replacement that keeps less of the characters than this counts as a deletion.
_KEPT = 0.5


def most_taken_out(entries: int) -> int:
    """How many of so many entries a run may take out: a quarter, so that one bad answer cannot
    empty a file, but always three, so that a short file can be mended.
    """
    return max(3, entries // 4)


def refusals(notes: Notes, decision: Decision) -> tuple[Refusal, ...]:
    """The operations of a model's decision that must not be carried out, with the reasons."""
    if decision.author is not Author.MODEL:
        return ()
    allowed = most_taken_out(len(notes.memory.entries))
    refused: list[Refusal] = []
    spent = 0
    for op in decision.operations:
        reason, cost = _not_the_models(notes, op), len(_erased(notes, op))
        # A long backlog is one run of many decisions: together they take out no more than one may.
        # A newer value is bound in its own decision only: refused, what was said last would be
        # lost.
        before = decision.taken if isinstance(op, Invalidate) else 0
        if not reason and cost and before + spent + cost > allowed:
            reason = f"this run may take out at most {allowed} entries"
        if reason:
            refused.append(Refusal(op, reason))
        else:
            spent += cost
    return tuple(refused)


def _not_the_models(notes: Notes, op: Operation) -> str:
    match op:
        case Invalidate(target=target):
            return _protected(notes, (target,))
        case Supersede(targets=targets, evidence=evidence):
            # A newer word of the conversation may replace what was asked to be remembered, never
            # what a person typed; a merge rests on no new word and may replace neither.
            return _protected(notes, targets, only_human=bool(evidence.sources)) or _misstates(
                notes, op
            )
        case Move(target=target) if _is_quoted(notes, target):
            return f"entry {target.id} is a quote: only a person may move it"
        case FoldBlocks(bullets=()):
            return "a fold without bullets would erase a month"
        case _:
            return ""


def _is_quoted(notes: Notes, target: Target) -> bool:
    record = notes.record(target.id)
    return record is not None and record.trust is Trust.QUOTED


def _misstates(notes: Notes, op: Supersede) -> str:
    """Why a merge is none: it rests on no new word, so it has to say what it merges."""
    if op.evidence.sources:
        return ""
    texts = [entry.text for entry in notes.entries_of(op)]
    if len(texts) < len(op.targets):
        return ""  # it will be refused for want of a target
    if not denies_the_same(texts, op.text):
        return "a merge must deny what it merges denies, and nothing else"
    if is_reversed(texts, op.text):
        return "a merge must not turn round what it merges"
    for lost in _erased(notes, op):
        return f"a merge must keep the words of what it merges, and this one forgets: {lost[:80]}"
    changed = new_values(texts, op.text).union(*(new_values((op.text,), t) for t in texts))
    if changed:
        return f"a merge must keep the numbers and days of what it merges: {min(changed)}"
    return ""


def _protected(notes: Notes, targets: tuple[Target, ...], *, only_human: bool = False) -> str:
    for target in targets:
        if notes.find(target) is None:
            continue  # nothing to protect: it will be refused for want of a target
        record = notes.record(target.id)
        trust = record.trust if record else Trust.HUMAN
        if trust is Trust.HUMAN or (trust is not Trust.INFERRED and not only_human):
            return f"entry {target.id} is {trust}: only a person may remove it"
    return ""


def _erased(notes: Notes, op: Operation) -> list[str]:
    """The texts that an operation takes out, turns round, or keeps less than half of."""
    if not isinstance(op, Invalidate | Supersede):
        return []
    texts = [entry.text for entry in notes.entries_of(op)]
    if isinstance(op, Invalidate):
        return texts
    kept = bigrams(op.text)
    is_turned = bool(texts) and is_reversed(texts, op.text)
    return [text for text in texts if is_turned or share_in(bigrams(text), kept) < _KEPT]


DAYS = 30
_MOST = 0.5
# Half of a single entry is none: of one or two entries, one may go.
_AT_LEAST = 1.0

# What gates, refusals and `doctor` say once it is reached.
TOOK_HALF = f"models have taken out half of what stood within {DAYS} days"


def within_bound(
    notes: Notes, decision: Decision, now: datetime
) -> tuple[Decision, tuple[Refusal, ...]]:
    """The decision without operations of a model that take out too much, and these as refusals.

    A newer value that may not replace the older one becomes an entry beside it.
    """
    taking = [losses_by(notes, operation, now) for operation in decision.operations]
    if decision.author is not Author.MODEL or not any(taking):
        return decision, ()
    losses = counted(notes, now.date())
    most = _most(notes, losses, now.date())
    kept: list[Operation] = []
    refused: list[Refusal] = []
    for operation, fresh in zip(decision.operations, taking, strict=True):
        if not fresh or _fits([*losses, *fresh], most):
            losses += fresh
            kept.append(operation)
            continue
        opens = reopens(notes, now.date())
        refused.append(
            Refusal(operation, f"{TOOK_HALF}; only a person may take out more before {opens}")
        )
        if isinstance(operation, Supersede) and operation.evidence.sources:
            kind = operation.kind or Kind.FACT
            kept.append(
                Add(
                    kind,
                    operation.text,
                    operation.trust,
                    operation.evidence,
                    expires=operation.expires,
                    due=operation.due,
                )
            )
    return replace(decision, operations=tuple(kept)), tuple(refused)


def is_used_up(notes: Notes, today: date) -> bool:
    """Whether models have taken out so much that not even one more whole entry may go."""
    losses = counted(notes, today)
    one_more = Loss("", today.isoformat(), since="", lost=1.0, gone=0)
    return bool(losses) and not _fits([*losses, one_more], _most(notes, losses, today))


def reopens(notes: Notes, today: date) -> date:
    """The first day on which the oldest of today's counted losses does not count any more."""
    oldest = min((loss.time for loss in counted(notes, today)), default=today.isoformat())
    return days_later(date.fromisoformat(oldest), DAYS + 1)


def counted(notes: Notes, today: date) -> list[Loss]:
    """The losses of the last 30 days whose entries do not stand again."""
    standing = {entry.id for entry in notes.memory.entries if entry.bullet}
    first = days_later(today, -DAYS).isoformat()
    return [loss for loss in notes.ledger.losses if loss.time >= first and loss.id not in standing]


def losses_by(notes: Notes, operation: Operation, now: datetime) -> list[Loss]:
    """What an operation takes out: a `Loss` for each entry of which characters are gone."""
    if not isinstance(operation, Invalidate | Supersede):
        return []
    found: list[Loss] = []
    text = operation.text if isinstance(operation, Supersede) else ""
    day = now.date().isoformat()
    entries = notes.entries_of(operation)
    kept = _find_kept_bigrams(entries, text)
    for entry in entries:
        record = notes.record(entry.id)
        if record is None or record.trust is Trust.HUMAN:
            continue
        share = 1 - share_in(bigrams(entry.text), kept) if text else 1.0
        if share:
            gone = 0 if text else record.stands_for
            lost = round(share * record.stands_for, 2)
            found.append(Loss(entry.id, day, _stands_since(record, day), lost, gone))
    return found


def _find_kept_bigrams(entries: Sequence[Entry], text: str) -> frozenset[str]:
    """Return the bigrams of a text that replaces entries; none if it turns round what they say."""
    if text and entries and is_reversed([entry.text for entry in entries], text):
        return frozenset()
    return bigrams(text)


def since(record: Record) -> str:
    """When the oldest wording of an entry came in, ISO 8601; empty where unknown."""
    return record.since or record.when


def _stands_since(record: Record, today: str) -> str:
    """The day since which an entry stands, at most today, ISO 8601; empty where unknown."""
    return min(since(record)[:10], today)


def _most(notes: Notes, losses: Sequence[Loss], today: date) -> dict[str, float]:
    """By day of the last 30: how many of its entries models may have taken out since.

    An entry that stands for several counts as so many; so does one of `losses` that left nothing in
    its place.
    """
    day = today.isoformat()
    days: list[str] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is not None and record.trust is not Trust.HUMAN:
            days += [_stands_since(record, day)] * record.stands_for
    days.sort()
    most: dict[str, float] = {}
    for ago in range(DAYS + 1):
        day = days_later(today, -ago).isoformat()
        entries = bisect_right(days, day) + sum(loss.gone for loss in _after(losses, day))
        most[day] = max(_AT_LEAST, _MOST * entries)
    return most


def _fits(losses: Sequence[Loss], most: Mapping[str, float]) -> bool:
    """Whether the bound holds on every day."""
    return all(
        sum(loss.lost for loss in _after(losses, day)) <= allowed for day, allowed in most.items()
    )


def _after(losses: Sequence[Loss], day: str) -> list[Loss]:
    """The losses since a day, of entries that were there on it."""
    return [loss for loss in losses if loss.since <= day <= loss.time]
