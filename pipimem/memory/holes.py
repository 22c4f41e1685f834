"""A hole tried again: what a thought makes of messages that were set aside, without turning newer things back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pipimem.memory.consolidate import consolidate
from pipimem.memory.window import Window
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Decision, Hole, Invalidate, Operation, Progress, Supersede, Target
from pipimem.sidecar.contracts import Assistant, Call


async def filled(
    assistant: Assistant, notes: Notes, hole: Hole, window: Window, now: datetime, call: Call, *, group: bool,
    today: datetime,
) -> Decision:  # fmt: skip
    """The decision that closes a hole; raises `SidecarError` when the assistant cannot think this time either.

    Where HISTORY.md has passed the hole already, its bullets become a block of their own time.
    """
    ledger = notes.ledger
    since = _start(window, now) if hole.last <= ledger.boundary else None
    if since is not None:
        # What waits for the next boundary is of another time.
        notes = replace(notes, ledger=replace(ledger, pending=()))
    decision = await consolidate(assistant, notes, window, now, call, group=group, since=since, today=today)
    late = [op for op in decision.operations if _turns_back(notes, op, now)]
    progress = Progress(
        pending=None if since is not None else decision.progress.pending,
        holes=tuple(other for other in ledger.holes if other != hole),
        expect_cursor=ledger.cursor,
        expect_holes=ledger.holes,
    )
    return Decision(
        decision.task,
        decision.author,
        tuple(op for op in decision.operations if op not in late),
        progress,
        f"{decision.why}, set aside before: {hole.reason}",
        decision.correlation,
        (*decision.notes, *("older than what it would replace" for _ in late)),
    )


def _turns_back(notes: Notes, op: Operation, then: datetime) -> bool:
    """Whether it would end an entry that rests on a later word than the hole."""
    match op:
        case Supersede(targets=targets):
            return any(_is_newer(notes, target, then) for target in targets)
        case Invalidate(target=target):
            return _is_newer(notes, target, then)
        case _:
            return False


def _is_newer(notes: Notes, target: Target, then: datetime) -> bool:
    record = notes.ledger.records.get(target.id)
    return record is not None and record.when != "" and datetime.fromisoformat(record.when) > then


def _start(window: Window, now: datetime) -> datetime:
    return next((message.time for message in window.messages if message.time), now)
