"""A hole tried again: what a thought makes of messages that were set aside, without turning newer things back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pipimem.memory.consolidate import consolidate
from pipimem.memory.window import Window
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Decision, Hole, Operation, Progress, targets_of
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
    return replace(
        decision,
        operations=tuple(op for op in decision.operations if op not in late),
        progress=progress,
        why=f"{decision.why}, set aside before: {hole.reason}",
        notes=(*decision.notes, *("older than what it would replace" for _ in late)),
    )


def _turns_back(notes: Notes, op: Operation, then: datetime) -> bool:
    """Whether it would end an entry that rests on a later word than the hole."""
    records = [notes.record(target.id) for target in targets_of(op)]
    return any(record and record.when and datetime.fromisoformat(record.when) > then for record in records)


def _start(window: Window, now: datetime) -> datetime:
    return next((message.time for message in window.messages if message.time), now)
