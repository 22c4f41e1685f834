"""A window that fails: asked about again, halved, and at last set aside as a hole in the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipimem.memory.window import SLICE_CHARS, Window, windows
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import Hole, Narrowed, Progress

# Once may be the model's bad moment; twice in a row it is the window. Three would only double what
# a poisonous message costs: with two, a full window around one is asked about at most ten times
# until it is set aside.
FAILURES_BEFORE_SPLIT = 2
# Below this nothing is left to halve: one message.
_LEAST_MESSAGES = 1


@dataclass(frozen=True, slots=True)
class FailedWindow:
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

    `reason` is a few stable words for the journal. `too_long` says that the model could not even
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
