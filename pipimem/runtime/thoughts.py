"""The thoughts of one channel run for real: fresh notes in, a decision out, committed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import ModelTimeout
from pipimem.memory import gates
from pipimem.memory.consolidate import consolidate
from pipimem.memory.expire import expired
from pipimem.memory.fold import fold
from pipimem.memory.refresh import refresh
from pipimem.memory.rerank import rerank
from pipimem.memory.tidy import tidy
from pipimem.memory.window import Window, counted, windows
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import AddBlock, Author, Decision, Job, Progress
from pipimem.recall.budgeting import Limits
from pipimem.recall.recalling import Recall
from pipimem.settings import Settings
from pipimem.sidecar.contracts import Assistant, Call
from pipimem.store.channel import ChannelStore
from pipimem.store.committing import Committed

T = TypeVar("T")

# DESIGN §8: minutes to wait after the first, second … failure in a row.
_BACKOFF = (1, 2, 4, 8, 16, 32, 60)


@dataclass(slots=True)
class Thoughts:
    """Everything a channel can think, one thought at a time; `correlate` names each with a new id."""

    store: ChannelStore
    assistant: Assistant
    settings: Settings
    clock: Clock
    correlate: Callable[[], str]
    group: bool = False

    def today(self) -> datetime:
        """What probations are counted by: talk of long ago that is taken in today has its chance from today on."""
        return max(self.clock.now(), self.clock.wall())

    async def notes(self) -> Notes:
        """The notes as they stand on disk now."""
        return await to_thread.run_sync(self.store.notes)

    async def window(self, after: int, upto: int | None = None) -> list[Message]:
        """The transcript after a message number."""
        return await to_thread.run_sync(lambda: list(self.store.transcript.window(after, upto)))

    async def commit(self, decision: Decision, actor: str = "") -> Committed:
        """Make a decision last; a commit that has begun is not cancelled half way."""
        wall = self.clock.wall()
        who = actor or self.assistant.name
        with anyio.CancelScope(shield=True):
            done = await to_thread.run_sync(lambda: self.store.commit(decision, self.clock.now(), who, wall))
        return done  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow

    # ── SESSION.md ────────────────────────────────────────────────────────────────────────────────────────────

    async def refresh(self, timeout: float, *, forced: bool = False) -> gates.Gate:
        """Bring SESSION.md up to the newest message, if the gate is open; only the newest slice is thought about."""
        notes, now = await self.notes(), self.clock.now()
        fresh = await self.window(notes.ledger.refreshed)
        turns, tools = counted(fresh)
        last = fresh[-1].number if fresh else 0
        gate = gates.may_refresh(notes, last, turns, tools, now, forced=forced)
        if gate:
            *_, newest = windows(fresh)
            now = _time_of(newest, now)
            decision = await self._within(
                timeout, lambda: refresh(self.assistant, notes, newest, now, self._call(timeout))
            )
            await self.commit(_done(decision, self.clock.now()))
        return gate

    # ── MEMORY.md and HISTORY.md ──────────────────────────────────────────────────────────────────────────────

    async def consolidate(self, timeout: float, *, boundary: bool, upto: int | None = None) -> int:
        """Think about all talk since the cursor, slice by slice, each committed with its cursor; gives the cursor.

        With `boundary` the last slice closes the block of HISTORY.md.
        """
        while True:
            notes = await self.notes()
            slices = list(windows(await self.window(notes.ledger.cursor, upto)))
            if not slices:
                return await self._close_block(notes) if boundary else notes.ledger.cursor
            # Idle work or another process may be first. Then nothing is committed, the rest is looked at anew, and what
            # they learnt still wants its block: so the way out is always above.
            await self._consolidate_slice(notes, slices[0], timeout, boundary=boundary and len(slices) == 1)

    async def _consolidate_slice(self, notes: Notes, window: Window, timeout: float, *, boundary: bool) -> None:
        since = await self._block_start(notes, window) if boundary else None
        now, call = _time_of(window, self.clock.now()), self._call(timeout)
        decision = await self._within(
            timeout,
            lambda: consolidate(
                self.assistant, notes, window, now, call, group=self.group, since=since, today=self.today()
            ),
        )
        await self.commit(_done(decision, self.clock.now()))

    async def _close_block(self, notes: Notes) -> int:
        """Background runs may have consolidated everything already: their bullets still want their block."""
        ledger = notes.ledger
        if ledger.pending and ledger.boundary < ledger.cursor:
            told = await self.window(ledger.boundary, ledger.cursor)
            if told and (start := told[0].time) and (end := told[-1].time):
                progress = Progress(boundary=ledger.cursor, pending=(), expect_cursor=ledger.cursor)
                block = AddBlock(min(start, end), end, "", ledger.pending)
                await self.commit(Decision("consolidate", Author.RULE, (block,), progress, why="boundary"))
        return ledger.cursor

    async def _block_start(self, notes: Notes, window: Window) -> datetime | None:
        first = await self.window(notes.ledger.boundary, notes.ledger.boundary + 1)
        times = [message.time for message in (*first, *window.messages) if message.time]
        return times[0] if times else self.clock.now()

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────────────────

    async def rerank(self, found: Recall, text: str, limits: Limits, shown: frozenset[str]) -> Recall:
        """What was found, in the order a model gives; somebody waits, so only for seconds."""
        timeout = self.settings.model.rerank_timeout
        return await self._within(
            timeout, lambda: rerank(self.assistant, found, text, limits, shown, self._call(timeout))
        )

    # ── idle jobs ─────────────────────────────────────────────────────────────────────────────────────────────

    async def tidy(self, timeout: float) -> Committed:
        """Merge, re-file and drop in MEMORY.md."""
        notes, now, call = await self.notes(), self.clock.now(), self._call(timeout)
        decision = await self._within(timeout, lambda: tidy(self.assistant, notes, now, call))
        return await self.commit(_done(replace(decision, looked_at=File.MEMORY), now))

    async def fold(self, timeout: float) -> Committed:
        """Fold the older blocks of HISTORY.md by month."""
        notes, now, call = await self.notes(), self.clock.now(), self._call(timeout)
        archive = await to_thread.run_sync(self.archive)
        decision = await self._within(timeout, lambda: fold(self.assistant, notes, archive, call))
        return await self.commit(_done(replace(decision, looked_at=File.HISTORY), now))

    async def expire(self) -> Committed:
        """Take out what was on probation and never came up again."""
        return await self.commit(expired(await self.notes(), self.today()), "pipimem")

    def archive(self) -> Note:
        """HISTORY.archive.md as it stands."""
        return Note.read(File.ARCHIVE, self.store.archive_text(), self.store.key)

    async def failed(self, task: str, error: Exception) -> None:
        """Note a job's failure, so that it waits before it tries again."""
        notes, now = await self.notes(), self.clock.now()
        job = notes.ledger.jobs.get(task, Job())
        wait = timedelta(minutes=_BACKOFF[min(job.failures, len(_BACKOFF) - 1)])
        due = (now + wait).isoformat(timespec="seconds")
        waiting = replace(job, failures=job.failures + 1, due=due)
        await self.commit(Decision(task, Author.RULE, why=f"failed: {error}", job=waiting))

    def _call(self, timeout: float) -> Call:
        return Call(self.store.channel_id, self.correlate(), timeout)

    async def _within(self, timeout: float, think: Callable[[], Awaitable[T]]) -> T:
        """The thought, or `ModelTimeout` when it took too long."""
        try:
            with anyio.fail_after(timeout):
                return await think()
        except TimeoutError as error:
            raise ModelTimeout(f"no answer within {timeout:g} s; raise the timeout in pipimem.toml, [model]") from error


def _done(decision: Decision, now: datetime) -> Decision:
    return replace(decision, job=Job(ran=now.isoformat(timespec="seconds")))


def _time_of(window: Window, now: datetime) -> datetime:
    """The conversation's time at the end of a window: what "tomorrow" in it is counted from."""
    return max((message.time for message in window.messages if message.time), default=now)
