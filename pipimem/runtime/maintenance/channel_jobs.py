"""The jobs of one channel: each reads fresh notes, asks a model, and commits its decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import AnswerRefused, ModelTimeout, NoProgress, SidecarError, described
from pipimem.llm.request import ContextOverflow
from pipimem.memory import gates
from pipimem.memory.consolidate import after_failure, consolidate, filled, halved, narrowed_windows
from pipimem.memory.day_blocks import day_blocks, of_ended_days
from pipimem.memory.expire import expired
from pipimem.memory.fold import due_months, fold, only_shorter, stamp_of
from pipimem.memory.refresh import refresh
from pipimem.memory.tidy import tidy
from pipimem.memory.window import Window, counted, windows
from pipimem.notes.kinds import File
from pipimem.notes.message import Message, newest_time
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Bullet, Decision, Hole, Progress
from pipimem.runtime.job_runner import Done, JobRunner
from pipimem.sidecar.tasks import Call
from pipimem.store.transcript.log import Transcript


class MessageCounts(Struct):
    """The turns and tool messages after message `after`, up to message `upto`."""

    after: int = -1
    upto: int = -1
    turns: int = 0
    tools: int = 0

    def add(self, messages: Sequence[Message]) -> None:
        """Count messages that follow on `upto`; others are left for a reading."""
        if messages and messages[0].number == self.upto + 1:
            turns, tools = counted(messages)
            self.turns, self.tools = self.turns + turns, self.tools + tools
            self.upto = messages[-1].number

    def between(self, after: int, upto: int) -> tuple[int, int]:
        """Turns and tool messages after one number up to another; if unknown, an upper bound."""
        if (self.after, self.upto) == (after, upto):
            return self.turns, self.tools
        return upto - after, upto - after

    def read(self, transcript: Transcript, after: int, upto: int) -> None:
        """Count what is not counted yet between two numbers; reads the rest once."""
        if self.after != after:
            self.after = self.upto = after
            self.turns = self.tools = 0
        if self.upto < upto:
            self.add(list(transcript.window(self.upto, upto)))


# What may be the window's own fault. An unreachable provider, a missing key or a spent budget is
# nobody's: they wait. An answer that was accepted and came to nothing (`NoProgress`) comes to
# nothing again, until the window is another.
_WINDOWS_FAULT = (AnswerRefused, ContextOverflow, ModelTimeout, NoProgress)
# A timeout says nothing about a window that had less than this share of a gate's usual time.
_ENOUGH_TIME = 0.5
# So many messages in front of a window may be corrected or answered in it.
_BEFORE = 8


@dataclass(slots=True)
class ChannelJobs(JobRunner):
    """The jobs of a channel that ask a model, and those by rule.

    A job whose model call fails raises `SidecarError` and commits the failure: it waits before it
    runs again.
    """

    _counts: MessageCounts = field(default_factory=MessageCounts)

    # ── SESSION.md ────────────────────────────────────────────────────────────────────────────────

    async def refresh(self, timeout: float) -> tuple[Done, ...]:
        """Update SESSION.md from the newest slice of messages, if there are new ones."""
        notes = await self.notes()
        last = await to_thread.run_sync(lambda: self.store.transcript.last_number)
        if last <= notes.ledger.refreshed:
            return ()
        *_, newest = [Window((), last, last), *windows(await self.window(notes.ledger.refreshed))]
        newest = self.with_kind(newest)
        call = self.call(timeout)
        decision = await self._ask(
            "refresh", call, notes, lambda: self._refreshed(notes, newest, call)
        )
        done = await self.done(decision, call, notes)
        self._counts = MessageCounts(newest.last, newest.last)
        return (done,)

    def count_written(self, messages: Sequence[Message]) -> None:
        """Messages were written to the transcript: counted here, no gate needs to read them."""
        self._counts.add(messages)

    def due(self) -> dict[str, gates.Gate]:
        """The gate of every job, from counters and stamps alone; call in a thread."""
        notes = self.store.with_pending_recalls(self.store.notes())
        return self._gates(notes, self.store.transcript.last_number)

    async def gate(self, task: str, *, forced: bool = False) -> gates.Gate:
        """The gate of one job; before a refresh the messages since the last are counted."""
        return await to_thread.run_sync(self._gate, task, await self.notes(), forced)

    def _gate(self, task: str, notes: Notes, forced: bool) -> gates.Gate:
        last = self.store.transcript.last_number
        gate = self._gates(notes, last, forced=forced)[task]
        if gate and task == "refresh" and not forced:
            self._counts.read(self.store.transcript, notes.ledger.refreshed, last)
            gate = self._gates(notes, last)[task]
        return gate

    def _gates(self, notes: Notes, last: int, *, forced: bool = False) -> dict[str, gates.Gate]:
        message_counts = self._counts.between(notes.ledger.refreshed, last)
        now = self.clock.now()

        def newest() -> datetime | None:
            found = self.store.transcript.window(last - 1, last)
            return next((message.time for message in found), None)

        return gates.due(
            notes, last, message_counts, now, newest=newest, today=self.today(), forced=forced
        )

    async def _refreshed(self, notes: Notes, window: Window, call: Call) -> Decision:
        now = _time_of(window, self.clock.now())
        while True:
            try:
                return await refresh(self.assistant, notes, window, now, call)
            except ContextOverflow:
                if len(window.messages) == 1:
                    raise
                *_, half = windows(window.messages, halved(window))
                window = replace(
                    half,
                    is_dm=window.is_dm,
                    needs_second_voice=window.needs_second_voice,
                )

    # ── MEMORY.md and HISTORY.md ──────────────────────────────────────────────────────────────────

    async def consolidate(
        self, timeout: float, *, boundary: bool, upto: int | None = None
    ) -> tuple[Done, ...]:
        """Consolidates all talk since the cursor, slice by slice, each committed with its cursor.

        With `boundary` the last slice closes the block of HISTORY.md.
        """
        done: list[Done] = []
        while True:
            notes = await self.notes()
            left = narrowed_windows(
                await self.window(notes.ledger.cursor, upto), notes.ledger.narrowed
            )
            slices = await to_thread.run_sync(list, islice(left, 2))
            if not slices:
                return (*done, *await self._close_block(notes)) if boundary else tuple(done)
            # Idle work or another process may be first. Then nothing is committed, the rest is
            # looked at anew, and what they learnt still wants its block: so the way out is always
            # above.
            taken = sum(
                change.verb == "invalidated" for one in done for change in one.outcome.changes
            )
            last = boundary and len(slices) == 1
            done.append(
                await self._consolidate_window(
                    notes, slices[0], timeout, boundary=last, taken=taken
                )
            )

    async def _consolidate_window(
        self, notes: Notes, window: Window, timeout: float, *, boundary: bool, taken: int
    ) -> Done:
        before = await self._before(window)
        window = self.with_kind(replace(window, before=before))
        since = await self._block_start(notes, window) if boundary else None
        now, call = _time_of(window, self.clock.now()), self.call(timeout)
        decide = partial(
            consolidate, self.assistant, notes, window, now, call, since=since, today=self.today()
        )
        try:
            decision = await self.with_timeout(timeout, decide)
        except _WINDOWS_FAULT as error:
            return await self._narrow_or_set_aside(notes, window, error, call)
        except SidecarError as error:
            await self.failed("consolidate", described(error), call, notes)
            raise
        return await self.done(replace(decision, taken=taken), call, notes)

    async def _before(self, window: Window) -> tuple[Message, ...]:
        """The last messages in front of a window, cleaned: what is said in it may correct them."""
        last = window.first - 1
        slices = list(windows(await self.window(max(0, last - _BEFORE), last)))
        return slices[-1].messages if slices else ()

    async def _narrow_or_set_aside(
        self, notes: Notes, window: Window, error: SidecarError, call: Call
    ) -> Done:
        """Narrow the window or set it aside; where that is for the next run, the error goes on."""
        least = _ENOUGH_TIME * self.settings.model.consolidate_gate_timeout
        if isinstance(error, ModelTimeout) and call.timeout < least:
            await self.failed("consolidate", described(error), call, notes)
            raise error
        failed = after_failure(
            notes.ledger, window, _fault(error), too_long=isinstance(error, ContextOverflow)
        )
        if not failed.goes_on:
            await self.failed(
                "consolidate", f"{failed.why}: {described(error)}", call, notes, failed.progress
            )
            raise error
        decision = Decision(
            "consolidate", Author.RULE, (), failed.progress, failed.why, call.correlation
        )
        return await self.committed(decision, notes, call)

    async def _close_block(self, notes: Notes) -> tuple[Done, ...]:
        """Add the blocks of HISTORY.md for all bullets that background runs left pending."""
        ledger = notes.ledger
        if not ledger.pending or ledger.boundary >= ledger.cursor:
            return ()
        return await self._add_blocks(notes, ledger.pending, "boundary")

    async def close_day(self) -> tuple[Done, ...]:
        """Add the blocks of HISTORY.md for the days that are over, without a model."""
        notes = await self.notes()
        last = await to_thread.run_sync(lambda: self.store.transcript.last_number)
        newest = await self._when(last)
        over, _ = of_ended_days(notes.ledger.pending, self.clock.now(), lambda: newest)
        return await self._add_blocks(notes, over, "a day is over") if over else ()

    async def _add_blocks(
        self, notes: Notes, bullets: tuple[Bullet, ...], why: str
    ) -> tuple[Done, ...]:
        """Add a block for each day of pending bullets; the others go on waiting."""
        ledger = notes.ledger
        left = tuple(bullet for bullet in ledger.pending if bullet not in bullets)
        progress = Progress(
            boundary=None if left else ledger.cursor, pending=left, expect_cursor=ledger.cursor
        )
        start, end = await self._when(ledger.boundary + 1), await self._when(ledger.cursor)
        blocks = day_blocks(bullets, min(start, end), end)
        decision = Decision("history", Author.RULE, blocks, progress, why=why)
        return (await self.committed(decision, notes),)

    async def _when(self, number: int) -> datetime:
        """When a message was said; now, where that is unknown."""
        found = await self.window(number - 1, number)
        return next((message.time for message in found if message.time), self.clock.now())

    async def _block_start(self, notes: Notes, window: Window) -> datetime | None:
        first = await self.window(notes.ledger.boundary, notes.ledger.boundary + 1)
        times = [message.time for message in (*first, *window.messages) if message.time]
        return times[0] if times else self.clock.now()

    async def fill(self, hole: Hole, timeout: float) -> Done:
        """Consolidate a set-aside window again; success closes the hole."""
        notes, call = await self.notes(), self.call(timeout)
        whole = list(windows(await self.window(hole.first - 1, hole.last)))
        window = whole[0] if len(whole) == 1 else Window((), hole.first, hole.last)
        window = self.with_kind(window)
        now = _time_of(window, self.clock.now())
        decision = await self.with_timeout(
            timeout,
            lambda: filled(self.assistant, notes, hole, window, now, call, today=self.today()),
        )
        return await self.committed(decision, notes, call)

    # ── idle jobs ─────────────────────────────────────────────────────────────────────────────────

    async def tidy(self, timeout: float) -> tuple[Done, ...]:
        """Merge, re-file and drop in MEMORY.md."""
        notes, now, call = await self.notes(), self.clock.now(), self.call(timeout)
        decision = await self._ask(
            "tidy", call, notes, lambda: tidy(self.assistant, notes, now, call)
        )
        checked = await self.checked(decision, notes)
        return (await self.done(replace(checked, looked_at=File.MEMORY), call, notes),)

    async def fold(self, timeout: float, *, forced: bool = False) -> tuple[Done, ...]:
        """Fold the older blocks of HISTORY.md by month."""
        notes, call, archive = await self.notes(), self.call(timeout), await self.archive()
        months = due_months(notes, self.clock.now(), forced=forced)
        decision = await self._ask(
            "fold", call, notes, lambda: fold(self.assistant, notes, archive, months, call)
        )
        checked = only_shorter(await self.checked(decision, notes), notes)
        return (await self.done(checked, call, notes, stamp_of(months)),)

    async def expire(self) -> tuple[Done, ...]:
        """Put into the archive what has had its time."""
        notes = await self.notes()
        decision = await self.checked(expired(notes, self.today()), notes)
        decision = replace(decision, correlation=self.new_correlation())
        return (await self.committed(decision, notes, actor="pipimem"),)

    async def _ask(
        self, task: str, call: Call, based_on: Notes, decide: Callable[[], Awaitable[Decision]]
    ) -> Decision:
        try:
            return await self.with_timeout(call.timeout, decide)
        except SidecarError as error:
            await self.failed(task, described(error), call, based_on)
            raise


def _fault(error: SidecarError) -> str:
    """The kind of an error for the ledger; its own text may quote a message."""
    match error:
        case ContextOverflow():
            return "longer than the model can read"
        case ModelTimeout():
            return "no answer in time"
        case NoProgress():
            return "an accepted answer came to nothing"
        case _:
            return "the answer was refused"


def _time_of(window: Window, now: datetime) -> datetime:
    """The conversation's time at the end of a window: what "tomorrow" in it is counted from."""
    return newest_time(window.messages) or now
