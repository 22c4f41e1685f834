"""Consolidate: what a stretch of talk, new or set aside before, leaves in MEMORY.md and HISTORY.md."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pipimem.errors import AnswerRefused
from pipimem.memory.bar import is_copy, passed
from pipimem.memory.known import known, targets
from pipimem.memory.narrowing import passed_by
from pipimem.memory.window import Window
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    AddBlock,
    Author,
    Bullet,
    Decision,
    Hole,
    Invalidate,
    Operation,
    Progress,
    targets_of,
)
from pipimem.sidecar.contracts import Assistant, Call, Consolidate, Consolidated, answered
from pipimem.text.secrets import redacted
from pipimem.text.tokens import clipped
from pipimem.text.whitespace import white_folded

_BULLET_CHARS = 300
_COPIED_CHARS = 80
# A quote is longer than a summary; more of them in one block would be a transcript.
_MOST_QUOTES = 8
_TITLE_CHARS = 60


async def consolidate(
    assistant: Assistant,
    notes: Notes,
    window: Window,
    now: datetime,
    call: Call,
    *,
    group: bool,
    since: datetime | None,
    today: datetime,
) -> Decision:
    """The decision on one window; with `since`, the time the last boundary ended, it also closes a HISTORY block.

    A window without words moves the cursor without a thought. Raises `SidecarError` when the assistant cannot think.
    """
    if not any(message.role == "user" for message in window.messages):
        return _decided(Consolidated(), notes, window, call, since, today)
    about = "\n".join(message.content for message in window.messages)
    task = Consolidate(now, window.participants, known(notes, now, about), window.messages, group)
    answer = await answered(assistant, task, Consolidated, call)
    if window.exchanged and not any(bullet.text.strip() for bullet in answer.history):
        raise AnswerRefused(
            "the window holds a real exchange, so the history needs at least one bullet"
        )
    return _decided(answer, notes, window, call, since, today)


async def filled(
    assistant: Assistant, notes: Notes, hole: Hole, window: Window, now: datetime, call: Call, *, group: bool,
    today: datetime,
) -> Decision:  # fmt: skip
    """The decision that closes a hole; raises `SidecarError` when the assistant cannot think this time either.

    Where HISTORY.md has passed the hole already, its bullets become a block of their own time.
    """
    ledger = notes.ledger
    since = None
    if hole.last <= ledger.boundary:
        since = next((message.time for message in window.messages if message.time), now)
        # What waits for the next boundary is of another time.
        notes = replace(notes, ledger=replace(ledger, pending=()))
    decision = await consolidate(
        assistant, notes, window, now, call, group=group, since=since, today=today
    )
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


def _decided(
    answer: Consolidated,
    notes: Notes,
    window: Window,
    call: Call,
    since: datetime | None,
    today: datetime,
) -> Decision:
    learnt = passed(
        answer.learned, notes, {message.id: message for message in window.messages}, today
    )
    places = targets(notes)
    operations: list[Operation] = [*learnt.operations]
    operations += [
        Invalidate(places[over.id], redacted(over.why)) for over in answer.over if over.id in places
    ]
    pending = _weightiest(
        (*notes.ledger.pending, *(_short(bullet, window) for bullet in answer.history))
    )
    if since is not None and pending:
        end = max((message.time for message in window.messages if message.time), default=today)
        operations.append(
            AddBlock(min(since, end), end, redacted(answer.title)[:_TITLE_CHARS], pending)
        )
    progress = Progress(
        cursor=window.last,
        boundary=window.last if since is not None else None,
        pending=() if since is not None else pending,
        narrowed=passed_by(notes.ledger.narrowed, window.last),
        expect_cursor=notes.ledger.cursor,
    )
    return Decision(
        "consolidate",
        Author.MODEL,
        tuple(operations),
        progress,
        why=f"messages {window.first}–{window.last}",
        correlation=call.correlation,
        notes=learnt.left_out,
    )


def _short(bullet: Bullet, window: Window) -> Bullet:
    """A line of history, never a message: what a model copied is cut to its beginning, a quote stays whole."""
    text = redacted(white_folded(bullet.text))
    if bullet.weight:
        return Bullet(text, bullet.sources, bullet.weight)
    most = _COPIED_CHARS if is_copy(text, window.messages) else _BULLET_CHARS
    return Bullet(clipped(text, most), bullet.sources)


def _weightiest(bullets: tuple[Bullet, ...]) -> tuple[Bullet, ...]:
    """A block's bullets with at most `_MOST_QUOTES` quotes among them, the weightiest; what a model told all stays."""
    quotes = sorted(
        (bullet for bullet in bullets if bullet.weight), key=lambda bullet: -bullet.weight
    )[:_MOST_QUOTES]
    return tuple(bullet for bullet in bullets if not bullet.weight or bullet in quotes)


def _turns_back(notes: Notes, op: Operation, then: datetime) -> bool:
    """Whether it would end an entry that rests on a later word than the hole."""
    records = [notes.record(target.id) for target in targets_of(op)]
    return any(
        record and record.when and datetime.fromisoformat(record.when) > then for record in records
    )
