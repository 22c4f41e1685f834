"""Consolidate: what a window of talk leaves in MEMORY.md, HISTORY.md and SESSION.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import AnswerRefused
from pipimem.memory.checked import checked
from pipimem.memory.day_blocks import day_blocks, weightiest, when_said
from pipimem.memory.masked import without_masked
from pipimem.memory.promote import is_copy, promoted
from pipimem.memory.prompt_memory import known, minute, newest_within, stamped, targets
from pipimem.memory.recalled_lines import without_recalled_lines
from pipimem.memory.refresh import set_sections, shown_sheet
from pipimem.memory.requests import withheld
from pipimem.memory.second_voice import agreed_quotes
from pipimem.memory.trust import ATTACK, HIDDEN, trusted
from pipimem.memory.window import SLICE_CHARS, Window, windows
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message, newest_time
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Author,
    Bullet,
    Decision,
    Hole,
    Invalidate,
    LeftOut,
    Narrowed,
    Operation,
    Progress,
    refused_text,
    targets_of,
)
from pipimem.sidecar.tasks import (
    Assistant,
    Call,
    Consolidate,
    Consolidated,
    HistoryItem,
    answered,
    in_thread,
)
from pipimem.text.injection import injection_kind, is_encoded
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted
from pipimem.text.talk.context import holds_a_statement
from pipimem.text.token_count import clipped

# Once may be the model's bad moment; twice in a row it is the window. Three would only double what
# a poisonous message costs: with two, a full window around one is asked about at most ten times
# until it is set aside.
FAILURES_BEFORE_SPLIT = 2
# Below this nothing is left to halve: one message.
_LEAST_MESSAGES = 1


class FailedWindow(Struct, frozen=True):
    """A failure: the progress after it, in words too, and whether the run may go on at once."""

    progress: Progress
    why: str
    goes_on: bool


def narrowed_windows(messages: Sequence[Message], narrowed: Narrowed) -> Iterator[Window]:
    """The windows of the talk after the cursor, as small as earlier failures made them.

    Each is made when it is asked for: of a long backlog only the first is wanted at a time.
    """
    near = [message for message in messages if message.number <= narrowed.upto]
    far = [message for message in messages if message.number > narrowed.upto]
    yield from windows(near, narrowed.chars or SLICE_CHARS)
    yield from windows(far)


def passed_by(narrowed: Narrowed, last: int) -> Narrowed | None:
    """How it stands once everything up to message `last` is done; `None` where nothing changes."""
    if narrowed == Narrowed():
        return None
    return replace(narrowed, failures=0) if last < narrowed.upto else Narrowed()


def halved(window: Window) -> int:
    """The characters that a window half as long may have."""
    return sum(len(message.content) for message in window.messages) // 2


def after_failure(
    ledger: Ledger, window: Window, reason: str, *, too_long: bool = False
) -> FailedWindow:
    """What follows from the failure of the window after the cursor.

    `reason` is a few stable words for the change. `too_long` says that the model could not even
    read it: then it is halved at once.
    """
    failures = ledger.narrowed.failures + 1
    if len(window.messages) > _LEAST_MESSAGES and (too_long or failures >= FAILURES_BEFORE_SPLIT):
        smaller = Narrowed(window.last, halved(window))
        size = f"windows of {smaller.chars} characters"
        why = f"messages {window.first}–{window.last} in {size}: {reason}"
        return FailedWindow(
            Progress(narrowed=smaller, expect_cursor=ledger.cursor), why, goes_on=too_long
        )
    if failures >= FAILURES_BEFORE_SPLIT:
        hole = Hole(window.first, window.last, reason)
        progress = Progress(
            cursor=window.last,
            holes=(*ledger.holes, hole),
            narrowed=passed_by(ledger.narrowed, window.last),
            expect_cursor=ledger.cursor,
        )
        return FailedWindow(
            progress, f"messages {hole.first}–{hole.last} set aside: {reason}", goes_on=True
        )
    again = Narrowed(window.last, ledger.narrowed.chars, failures)
    return FailedWindow(
        Progress(narrowed=again, expect_cursor=ledger.cursor), f"failed: {reason}", goes_on=False
    )


_OLDER = "older than what it would replace"
_BULLET_CHARS = 300
_COPIED_CHARS = 80
_TITLE_CHARS = 80
# The newest bullets of history: the lead-in in front of a window says the rest.
_NEWEST, _NEWEST_CHARS = 6, 800
_MOST_NOT_KEPT, _NOT_KEPT_CHARS = 8, 160


async def consolidate(
    assistant: Assistant,
    notes: Notes,
    window: Window,
    now: datetime,
    call: Call,
    *,
    since: datetime | None,
    today: datetime,
) -> Decision:
    """The decision on one window of talk.

    With `since`, the time the last boundary ended, it also closes a block of HISTORY.md. Where
    SESSION.md lags behind the window, the same answer brings it up to date. A window without words
    of people moves the cursor without a model call. Raises `SidecarError` when the assistant fails.
    """
    window = await in_thread(partial(without_recalled_lines, window, notes))
    answer, lags = Consolidated(), window.last > notes.ledger.refreshed
    unsaid: tuple[LeftOut, ...] = ()
    masked: tuple[LeftOut, ...] = ()
    if any(message.role == "user" for message in window.messages):
        task = await in_thread(partial(_task, notes, window, now, lags=lags))
        answer = await answered(assistant, task, Consolidated, call)
        if not _has_history(answer, window):
            raise AnswerRefused(_NO_HISTORY)
        answer, masked = await in_thread(partial(without_masked, answer, window.by_id))
        told = answer.history
        answer, unsaid = await in_thread(partial(checked, answer, task))
        if told and not answer.history:
            answer = _with_a_fact_told(answer, unsaid)
    # Every entry is compared with what was learnt: 0.1 s for a thousand.
    decided = partial(_decision, answer, notes, window, call, since, today, lags=lags)
    decision = await in_thread(decided)
    return replace(decision, left_out=(*decision.left_out, *unsaid, *masked))


_NO_HISTORY = "the window holds a real exchange, so the history needs at least one bullet"


def _with_a_fact_told(answer: Consolidated, unsaid: Iterable[LeftOut]) -> Consolidated:
    """Return an answer whose lines of history were all left out, with its first fact as one.

    Without a fact it raises `AnswerRefused`.
    """
    if not answer.learned:
        raise AnswerRefused(_no_history(unsaid))
    first = answer.learned[0]
    line = HistoryItem(clipped(first.text, _BULLET_CHARS), first.sources)
    return replace(answer, history=(line,))


def _no_history(unsaid: Iterable[LeftOut]) -> str:
    """Why an answer without a bullet is refused, with what was wrong with those it had."""
    wrong = dict.fromkeys(item.reason for item in unsaid if item.file is File.HISTORY)
    return "; ".join([_NO_HISTORY, *wrong])


def _has_history(answer: Consolidated, window: Window) -> bool:
    """Whether an answer tells of an exchange, or nothing was stated in it that may be noted."""
    if not window.exchanged or any(bullet.text.strip() for bullet in answer.history):
        return True
    return not holds_a_statement(window.before, window.messages)


def _task(notes: Notes, window: Window, now: datetime, *, lags: bool) -> Consolidate:
    """What is asked about a window; SESSION.md is shown where it `lags` behind."""
    shown = known(notes, now, [message.content for message in window.messages])
    return Consolidate(
        now,
        window.participants,
        shown.entries,
        window.messages,
        shown_sheet(notes.session) if lags else None,
        _newest_of_history(notes),
        window.before,
        shown.hidden,
        _not_kept(notes),
    )


def _newest_of_history(notes: Notes) -> tuple[str, ...]:
    """The newest bullets with their times; those that wait for their block are the newest."""
    bullets = [entry for entry in notes.history.entries if entry.bullet]
    lines = stamped(notes, bullets[-_NEWEST:])
    lines += [f"{minute(bullet.when)}{bullet.text}" for bullet in notes.ledger.pending]
    return newest_within(lines[-_NEWEST:], _NEWEST_CHARS)


def _not_kept(notes: Notes) -> tuple[str, ...]:
    """What of the newest answers was left out, and why; no words of an attack are among it."""
    lines = [
        f"{clipped(item.text, _NOT_KEPT_CHARS)}, because {item.reason}"
        for item in notes.left_out
        if item.text and not item.reason.startswith((ATTACK, HIDDEN)) and not _is_attack(item)
    ]
    return tuple(lines[-_MOST_NOT_KEPT:])


def _is_attack(item: LeftOut) -> bool:
    """Return whether an item that was left out for another reason is an attack, too."""
    return bool(injection_kind(item.text)) or is_encoded(item.text)


async def filled(
    assistant: Assistant,
    notes: Notes,
    hole: Hole,
    window: Window,
    now: datetime,
    call: Call,
    *,
    today: datetime,
) -> Decision:
    """The decision that closes a hole; raises `SidecarError` when the assistant fails again.

    Where HISTORY.md has passed the hole already, its bullets become a block of their own time.
    """
    ledger = notes.ledger
    since = None
    if hole.last <= ledger.boundary:
        since = next((message.time for message in window.messages if message.time), now)
        # What waits for the next boundary is of another time.
        notes = replace(notes, ledger=replace(ledger, pending=()))
    decision = await consolidate(assistant, notes, window, now, call, since=since, today=today)
    kept, late = list[Operation](), list[LeftOut]()
    for op in decision.operations:
        if _ends_a_later_word(notes, op, now):
            late.append(refused_text(op, _OLDER) or LeftOut(_OLDER, ""))
        else:
            kept.append(op)
    progress = Progress(
        pending=decision.progress.pending if since is None else None,
        holes=tuple(other for other in ledger.holes if other != hole),
        expect_cursor=ledger.cursor,
        expect_holes=ledger.holes,
    )
    return replace(
        decision,
        operations=tuple(kept),
        progress=progress,
        why=f"{decision.why}, set aside before: {hole.reason}",
        left_out=(*decision.left_out, *late),
    )


def _decision(
    answer: Consolidated,
    notes: Notes,
    window: Window,
    call: Call,
    since: datetime | None,
    today: datetime,
    *,
    lags: bool,
) -> Decision:
    messages = window.by_id
    said, talk = tuple(messages.values()), window.talk(notes.ledger.speakers)
    judged = trusted(answer, said, talk)
    answer = judged.answer
    promotion = promoted(answer.learned, notes, messages, today)
    learnt = {source for item in answer.learned for source in item.sources}
    operations = [*promotion.operations, *_ended(answer, notes)]
    operations += agreed_quotes(said, notes)
    history, progress = _history(answer, notes, window, since, today)
    decision = Decision(
        "consolidate",
        Author.MODEL,
        (*operations, *history),
        progress,
        why=f"messages {window.first}–{window.last}",
        correlation=call.correlation,
        notes=(*judged.notes, *promotion.notes, *withheld(window.messages, learnt)),
        left_out=(*judged.left_out, *promotion.left_out),
        speakers=_speakers(window),
    )
    return _with_sheet(decision, answer, notes, window) if lags else decision


def _history(
    answer: Consolidated, notes: Notes, window: Window, since: datetime | None, today: datetime
) -> tuple[tuple[Operation, ...], Progress]:
    """The blocks of HISTORY.md that a window closes, and how far memory is behind it.

    Without `since` it closes none, and its bullets wait in the progress.
    """
    bullets = (_shortened(item, window) for item in answer.history)
    pending = weightiest((*notes.ledger.pending, *bullets))
    progress = Progress(
        cursor=window.last,
        pending=pending,
        narrowed=passed_by(notes.ledger.narrowed, window.last),
        expect_cursor=notes.ledger.cursor,
    )
    if since is None:
        return (), progress
    end = newest_time(window.messages) or today
    title = redacted(answer.title)[:_TITLE_CHARS]
    closed = day_blocks(pending, min(since, end), end, title)
    return closed, replace(progress, boundary=window.last, pending=())


def _speakers(window: Window) -> tuple[str, ...]:
    """The people of a window, in the order of their first word."""
    said = [message.speaker for message in window.messages if message.role == "user"]
    return tuple(dict.fromkeys(said))


def _with_sheet(decision: Decision, answer: Consolidated, notes: Notes, window: Window) -> Decision:
    """The decision with the answer's sheet; without one SESSION.md stays, and stays behind."""
    if answer.sheet is None:
        return replace(
            decision, notes=(*decision.notes, "no sheet in the answer: the old one stays")
        )
    return replace(
        decision,
        operations=(*set_sections(answer.sheet, notes.session), *decision.operations),
        progress=replace(decision.progress, refreshed=window.last),
    )


def _ended(answer: Consolidated, notes: Notes) -> list[Operation]:
    """The operations that take out what is over."""
    places = targets(notes)
    over = (each for each in answer.over if each.id in places)
    return [Invalidate(places[each.id], redacted(each.why)) for each in over]


def _shortened(item: HistoryItem, window: Window) -> Bullet:
    """A line of history, never a message: what a model copied is cut, a quote stays whole."""
    text = redacted(white_folded(item.text))
    if not item.weight:
        most = _COPIED_CHARS if is_copy(text, window.messages) else _BULLET_CHARS
        text = clipped(text, most)
    return Bullet(text, item.sources, item.weight, when_said(item.sources, window.messages))


def _ends_a_later_word(notes: Notes, op: Operation, then: datetime) -> bool:
    """Whether it would end an entry that was said later than `then`."""
    records = [notes.record(target.id) for target in targets_of(op)]
    times = [record.when for record in records if record and record.when]
    return any(datetime.fromisoformat(when) > then for when in times)
