"""The gate before a compaction: what a host is about to drop is brought into the notes, in the time there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import anyio
from anyio import to_thread

from pipimem.errors import ModelTimeout, PipimemError, SidecarError
from pipimem.notes.message import Message
from pipimem.notes.operations import Hole
from pipimem.runtime.intake import unseen
from pipimem.runtime.thoughts import Thoughts
from pipimem.runtime.turns import Receipt

# A gate holds the host up: refresh may use this share of the deadline, consolidation the rest.
REFRESH_SHARE = 0.4


async def lacking(thoughts: Thoughts, messages: Sequence[Message]) -> list[Message]:
    """What of the messages a host holds the transcript does not have yet."""
    if not messages:
        return []
    # Without ids a message is known by what it says; the host cannot hold more than this many of the newest.
    newest = 2 * len(messages) + 50

    def missing() -> list[Message]:
        transcript = thoughts.store.transcript
        return unseen(messages, transcript.window(max(0, transcript.last_number - newest)))

    return await to_thread.run_sync(missing)


async def brought_in(thoughts: Thoughts, covered: int, seconds: float) -> Receipt:
    """SESSION.md, then MEMORY.md and HISTORY.md up to the message number `covered`; a failed refresh stops nothing.

    What fails or takes longer is `deferred` or `blocked`, as the policy says: the talk is on disk and synced.
    """
    try:
        return await _thought_about(thoughts, covered, seconds)
    except (PipimemError, OSError) as error:  # it is the notes that cannot be read or written
        return _put_off(thoughts, covered, error)


async def _thought_about(thoughts: Thoughts, covered: int, seconds: float) -> Receipt:
    end, before = anyio.current_time() + seconds, thoughts.store.ledger.holes
    try:
        await thoughts.refresh(seconds * REFRESH_SHARE)
        refreshed = "refresh: done"
    except SidecarError as error:
        refreshed = f"refresh: {error}"
    left = max(0.1, end - anyio.current_time())
    try:
        with anyio.fail_after(left):
            await thoughts.consolidate(left, boundary=True, upto=covered)
    except (SidecarError, TimeoutError) as error:
        reason = (
            error
            if isinstance(error, SidecarError)
            else ModelTimeout(f"not all was done in {seconds:g} s")
        )
        return _put_off(thoughts, covered, reason, (refreshed, f"consolidate: {reason}"))
    ledger = thoughts.store.ledger
    steps = (refreshed, "consolidate: done", *_set_aside(before, ledger.holes))
    return Receipt(True, "consolidated", covered, ledger.cursor, steps=steps)


def _set_aside(before: tuple[Hole, ...], after: tuple[Hole, ...]) -> Iterator[str]:
    for hole in after:
        if hole not in before:
            yield f"set aside: messages {hole.first}–{hole.last} ({hole.reason})"


def _put_off(
    thoughts: Thoughts, covered: int, error: Exception, steps: tuple[str, ...] = ()
) -> Receipt:
    """What the policy makes of a thought that failed."""
    cursor = 0
    with suppress(
        PipimemError, OSError
    ):  # what failed may be the ledger itself: then it cannot say how far it came
        cursor = thoughts.store.ledger.cursor
    if thoughts.settings.compaction.policy == "block":
        return Receipt(False, "blocked", covered, cursor, str(error), steps)
    return Receipt(True, "deferred", covered, cursor, str(error), steps)
