"""What no model may do to a memory, checked against the text as it stands."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.notes.notes import Notes, Refusal
from pipimem.notes.operations import (
    Author,
    Decision,
    FoldBlocks,
    Invalidate,
    Operation,
    Supersede,
    Target,
    Trust,
)
from pipimem.text.similarity import bigrams, share_in

# A replacement that keeps less of the characters than this counts as a deletion.
_KEPT = 0.5


def most_taken_out(entries: int) -> int:
    """How many of so many entries a run may take out (DESIGN §7.6, §8): beyond this it does not tidy, it erases."""
    return max(3, entries // 4)


def refusals(notes: Notes, decision: Decision) -> tuple[Refusal, ...]:
    """The operations of a model's decision that must not be carried out; a person's are never refused here."""
    if decision.author is not Author.MODEL:
        return ()
    refused = [
        Refusal(op, reason) for op in decision.operations if (reason := _not_the_models(notes, op))
    ]
    barred = {id(refusal.operation) for refusal in refused}
    allowed = most_taken_out(len(notes.memory.entries))
    spent = 0
    for op in decision.operations:
        if id(op) in barred:
            continue
        cost = _destroys(notes, op)
        spent += cost
        # A long backlog is one run of many decisions: together they take out no more than one may. A newer value is
        # bound in its own decision only: refused, what was said last would be lost.
        before = decision.taken if isinstance(op, Invalidate) else 0
        if cost and before + spent > allowed:
            spent -= cost
            refused.append(Refusal(op, f"this run may take out at most {allowed} entries"))
    return tuple(refused)


def _not_the_models(notes: Notes, op: Operation) -> str:
    match op:
        case Invalidate(target=target):
            return _protected(notes, (target,))
        case Supersede(targets=targets, evidence=evidence):
            # A newer word of the conversation may replace what was asked to be remembered, never what a person typed;
            # a merge rests on no new word and may replace neither.
            return _protected(notes, targets, only_human=bool(evidence.sources)) or _forgets(
                notes, op
            )
        case FoldBlocks(bullets=()):
            return "a fold without bullets would erase a month"
        case _:
            return ""


def _forgets(notes: Notes, op: Supersede) -> str:
    """Why a merge is none: it rests on no new word, so it has to say what it merges."""
    if op.evidence.sources:
        return ""
    kept = bigrams(op.text)
    lost = next(
        (old for old in _texts(notes, op.targets) if share_in(bigrams(old), kept) < _KEPT), ""
    )
    return (
        f"a merge must keep the words of what it merges, and this one forgets: {lost[:80]}"
        if lost
        else ""
    )


def _protected(notes: Notes, targets: tuple[Target, ...], *, only_human: bool = False) -> str:
    for target in targets:
        if notes.find(target) is None:
            continue  # nothing to protect: it will be refused for want of a target
        record = notes.record(target.id)
        trust = record.trust if record else Trust.HUMAN
        if trust is Trust.HUMAN or (trust is Trust.EXPLICIT and not only_human):
            return f"entry {target.id} is {trust}: only a person may remove it"
    return ""


def _destroys(notes: Notes, op: Operation) -> int:
    """How many entries an operation takes out; one that keeps their words takes out none."""
    match op:
        case Invalidate():
            return 1
        case Supersede(targets=targets, text=text):
            kept = bigrams(text)
            return sum(1 for old in _texts(notes, targets) if share_in(bigrams(old), kept) < _KEPT)
        case _:
            return 0


def _texts(notes: Notes, targets: tuple[Target, ...]) -> Iterator[str]:
    return (entry.text for target in targets if (entry := notes.find(target)))
