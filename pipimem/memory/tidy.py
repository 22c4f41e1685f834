"""Tidy: MEMORY.md with what belongs together merged, re-filed or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pipimem.memory.known import known, targets
from pipimem.notes.kinds import EVENTS, kind_of
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Author,
    Decision,
    Invalidate,
    Move,
    Operation,
    Supersede,
    Trust,
    targets_of,
)
from pipimem.sidecar.contracts import Assistant, Call, Tidied, Tidy, answered
from pipimem.text.quotes import read_quote
from pipimem.text.same_thoughts import SameThoughts
from pipimem.text.secrets import redacted

# About as many as came since the last tidying: what they double or contradict is what there is to tidy.
_LOOKED_AT = 20
# As much as of MEMORY.md: a prompt stays within 16,000 tokens.
_HISTORY_CHARS = 12_000
# Why something is dropped though it holds: it goes on being recalled from where else it stands.
_STILL_SO = frozenset(("duplicate", "in_history"))


async def tidy(assistant: Assistant, notes: Notes, now: datetime, call: Call) -> Decision:
    """The decision on MEMORY.md as it stands; nothing to do is an empty decision."""
    answer = await answered(
        assistant, Tidy(now, known(notes, now, _newest(notes)), _told(notes)), Tidied, call
    )
    operations = _operations(answer, notes)
    taken = {target for op in operations for target in targets_of(op)}
    operations += [op for op in _in_history(notes) if op.target not in taken]
    return Decision(
        "tidy", Author.MODEL, tuple(operations), why="MEMORY.md grew", correlation=call.correlation
    )


def _newest(notes: Notes) -> str:
    """The newest entries' texts: of a memory that is too long for one look, what is like them is looked at."""
    records = notes.ledger.records
    ages = [
        (records[entry.id].when, entry.text)
        for entry in notes.memory.entries
        if entry.id in records
    ]
    return "\n".join(text for _, text in sorted(ages)[-_LOOKED_AT:])


def _told(notes: Notes) -> tuple[str, ...]:
    """What HISTORY.md says, as much of its end as a prompt has room for."""
    told: list[str] = []
    room = _HISTORY_CHARS
    for entry in reversed(notes.history.entries):
        room -= len(entry.text)
        if room < 0:
            break
        told.insert(0, entry.text)
    return tuple(told)


def _operations(answer: Tidied, notes: Notes) -> list[Operation]:
    places = targets(notes)
    operations: list[Operation] = [
        Supersede(
            tuple(places[name] for name in merge.ids),
            redacted(merge.text),
            Trust.INFERRED,
            reason="merged",
        )
        for merge in answer.merge
        if len(merge.ids) > 1 and all(name in places for name in merge.ids)
    ]
    operations += [
        Invalidate(places[drop.id], drop.why, still_so=drop.why in _STILL_SO)
        for drop in answer.drop
        if drop.id in places
    ]
    operations += [Move(places[move.id], move.kind) for move in answer.move if move.id in places]
    return operations


def _in_history(notes: Notes) -> Iterator[Invalidate]:
    """What a thought concluded, is no more than an event, and HISTORY.md tells as well."""
    told = SameThoughts(entry.text for entry in notes.history.entries)
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if (
            record is None
            or record.trust is not Trust.INFERRED
            or kind_of(entry.section) not in EVENTS
        ):
            continue
        # The rules write the same quote into both, and a fold keeps only the weightiest of history's.
        if not read_quote(entry.text).day and told.of(entry.text):
            yield Invalidate(entry.target, "it stands in HISTORY.md", still_so=True)
