"""The gate before a compaction: consolidates what a host will drop, within a deadline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Literal

import anyio
from anyio import to_thread

from pipimem.errors import ModelTimeout, PipimemError, SidecarError, described
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision, Hole, Progress
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.transcript_writer import TranscriptWriter
from pipimem.runtime.turns import NOTHING_NEW, Receipt


async def missing_messages(
    jobs: ChannelJobs, writer: TranscriptWriter, messages: Sequence[Message]
) -> list[Message]:
    """What of the messages a host holds the transcript lacks, without what is off the record."""
    # Without ids a message is known by what it says; the host cannot hold more than this many of
    # the newest.
    newest = 2 * len(messages) + 50

    def missing() -> list[Message]:
        on_the_record = writer.on_the_record(messages)
        if not on_the_record:
            return []
        transcript = jobs.store.transcript
        known = transcript.window(max(0, transcript.last_number - newest))
        return writer.intake.unknown_messages(on_the_record, chain(known, transcript.spooled()))

    return await to_thread.run_sync(missing)


async def begin_epoch(jobs: ChannelJobs, covered: int) -> None:
    """Note that the host dropped all messages up to the number `covered`."""
    ledger = (await jobs.notes()).ledger
    progress = Progress(epoch=ledger.epoch + 1, epoch_start=max(covered, ledger.epoch_start))
    decision = Decision("epoch", Author.RULE, progress=progress, why="compacted")
    await jobs.commit(decision, "pipimem")


async def consolidated_receipt(jobs: ChannelJobs, covered: int, seconds: float) -> Receipt:
    """Consolidate up to message `covered`, which brings SESSION.md up to date as well.

    Only SESSION.md is asked for where nothing else is left to learn, and nobody where all is up to
    date. What fails or takes longer is `deferred` or `blocked`, as the policy says: the talk is on
    disk and synced.
    """
    steps: list[str] = []
    try:
        with anyio.fail_after(seconds):
            async with jobs.exclusive(seconds):
                before = jobs.store.ledger
                if before.refreshed < covered <= before.cursor:
                    steps.append(f"refresh: {await _refreshed(jobs, seconds)}")
                await jobs.consolidate(seconds, boundary=True, upto=covered)
        ledger = jobs.store.ledger
    except TimeoutError:
        return _failed_receipt(
            jobs, covered, ModelTimeout(f"not all was done in {seconds:g} s"), steps
        )
    except (PipimemError, OSError) as error:
        return _failed_receipt(jobs, covered, error, steps)
    if min(before.cursor, before.refreshed) >= covered:
        return Receipt(True, "consolidated", covered, ledger.cursor, steps=(NOTHING_NEW,))
    steps += ["consolidate: done", *_set_aside(before.holes, ledger.holes)]
    return Receipt(True, "consolidated", covered, ledger.cursor, steps=tuple(steps))


async def _refreshed(jobs: ChannelJobs, timeout: float) -> str:
    try:
        await jobs.refresh(timeout)
    except SidecarError as error:
        return described(error)
    return "done"


def _set_aside(before: tuple[Hole, ...], after: tuple[Hole, ...]) -> Iterator[str]:
    for hole in after:
        if hole not in before:
            yield f"set aside: messages {hole.first}–{hole.last} ({hole.reason})"


def _failed_receipt(
    jobs: ChannelJobs, covered: int, error: Exception, steps: Sequence[str]
) -> Receipt:
    """The receipt for a failed gate: deferred or blocked, by the policy."""
    cursor = 0
    # What failed may be the ledger itself: then it cannot say how far it came.
    with suppress(PipimemError, OSError):
        cursor = jobs.store.ledger.cursor
    may_compact = jobs.settings.compaction.policy != "block"
    if isinstance(error, SidecarError):
        steps = (*steps, f"consolidate: {described(error)}")
    state: Literal["deferred", "blocked"] = "deferred" if may_compact else "blocked"
    return Receipt(may_compact, state, covered, cursor, described(error), tuple(steps))
