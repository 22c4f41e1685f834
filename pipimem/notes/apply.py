"""A decision carried out on the texts as they stand: pure, all of it or what of it still fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pipimem.notes import apply_history, apply_memory, apply_session, guards, losses
from pipimem.notes.apply_draft import AppliedDraft
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger
from pipimem.notes.notes import Notes, Outcome, Refusal, etag
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Confirm,
    Decision,
    FoldBlocks,
    Invalidate,
    Job,
    Move,
    Operation,
    Progress,
    SetSection,
    Supersede,
)


def applied(notes: Notes, decision: Decision, now: datetime) -> Outcome:
    """What the decision makes of the notes.

    Every operation finds its target in `notes` itself or is refused; an operation that would change
    nothing is dropped. A decision made on another cursor, or other holes, than today's is refused
    whole, and so is one that was made before something was forgotten: it may rest on that.
    """
    reason = _outdated(notes.ledger, decision.progress)
    if reason:
        return Outcome(refused=tuple(Refusal(op, reason) for op in decision.operations))
    barred = guards.refusals(notes, decision)
    stopped = {id(refusal.operation) for refusal in barred}
    allowed = tuple(op for op in decision.operations if id(op) not in stopped)
    decision, too_many = losses.within_bound(notes, replace(decision, operations=allowed), now)
    work = AppliedDraft(notes, now, refused=[*barred, *too_many])
    for operation in decision.operations:
        reason = _done(work, operation)
        if reason:
            work.refused.append(Refusal(operation, reason))
        elif decision.author is Author.MODEL:
            work.losses += losses.losses_by(notes, operation, now)
    return _outcome(work, decision)


def _outdated(ledger: Ledger, progress: Progress) -> str:
    if progress.expect_cursor not in (None, ledger.cursor):
        return f"the cursor moved from {progress.expect_cursor} to {ledger.cursor} meanwhile"
    if progress.expect_holes not in (None, ledger.holes):
        return "other messages are set aside now"
    if progress.expect_forgotten not in (None, ledger.forgotten):
        return "something was forgotten meanwhile"
    return ""


def _done(work: AppliedDraft, operation: Operation) -> str:
    """Do one operation; the answer is why it was refused, empty when it was done."""
    match operation:
        case Add():
            return apply_memory.add(work, operation)
        case Supersede():
            return apply_memory.supersede(work, operation)
        case Move():
            return apply_memory.move(work, operation)
        case Invalidate():
            return apply_memory.invalidate(work, operation)
        case Confirm():
            return apply_memory.confirm(work, operation)
        case SetSection():
            return apply_session.set_section(work, operation)
        case AddBlock():
            return apply_history.add_block(work, operation)
        case FoldBlocks():
            return apply_history.fold(work, operation)


def _outcome(work: AppliedDraft, decision: Decision) -> Outcome:
    drafts = {file: draft.text() for file, draft in work.drafts.items()}
    texts = {file: text for file, text in drafts.items() if text != work.notes.note(file).text}
    progress = replace(
        decision.progress, expect_cursor=None, expect_holes=None, expect_forgotten=None
    )
    jobs = _jobs(work.notes, decision, texts)
    delta = Delta(work.records, work.tombstones, jobs, progress, losses=tuple(work.losses))
    return Outcome(texts, work.archived, delta, tuple(work.changes), tuple(work.refused))


def _jobs(notes: Notes, decision: Decision, texts: Mapping[File, str]) -> dict[str, Job]:
    if decision.job is None:
        return {}
    job, file = decision.job, decision.looked_at
    if file is not None:
        job = replace(job, stamp=etag(texts.get(file, notes.note(file).text)))
    return {decision.task: job}
