"""What no model may do to a memory, checked against the text as it stands."""

from __future__ import annotations

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
from pipimem.text.words.similarity import bigrams, share_in

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
            return _protected(notes, targets, only_human=bool(evidence.sources)) or _forgets(
                notes, op
            )
        case FoldBlocks(bullets=()):
            return "a fold without bullets would erase a month"
        case _:
            return ""


def _forgets(notes: Notes, op: Supersede) -> str:
    """Why a merge is none: it rests on no new word, so it has to say what it merges."""
    lost = "" if op.evidence.sources else next(iter(_erased(notes, op)), "")
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


def _erased(notes: Notes, op: Operation) -> list[str]:
    """The texts that an operation takes out, or of which it keeps less than half."""
    if not isinstance(op, Invalidate | Supersede):
        return []
    texts = [entry.text for entry in notes.entries_of(op)]
    if isinstance(op, Invalidate):
        return texts
    kept = bigrams(op.text)
    return [text for text in texts if share_in(bigrams(text), kept) < _KEPT]
