"""The thoughts of one channel run for real: fresh notes in, a decision out, committed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from anyio import to_thread

from pipimem.errors import AnswerRefused, ModelTimeout, NoProgress, SidecarError
from pipimem.memory import gates
from pipimem.memory.consolidate import consolidate, filled
from pipimem.memory.expire import expired
from pipimem.memory.fold import fold
from pipimem.memory.narrowing import halved, narrowed_windows, setback
from pipimem.memory.refresh import refresh
from pipimem.memory.rerank import rerank
from pipimem.memory.tidy import tidy
from pipimem.memory.window import Window, windows
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import AddBlock, Author, Decision, Hole, Progress
from pipimem.recall.budgeting import Limits
from pipimem.recall.recalling import Recall
from pipimem.runtime.tally import Tally
from pipimem.runtime.thinking import Done, Thinking
from pipimem.sidecar.contracts import Call
from pipimem.sidecar.door import ContextOverflow

# What may be the window's own fault. An unreachable provider, a missing key or a spent budget is nobody's: they wait.
# An answer that was accepted and came to nothing (`NoProgress`) comes to nothing again, until the window is another.
_WINDOWS_FAULT = (AnswerRefused, ContextOverflow, ModelTimeout, NoProgress)
# A timeout says nothing about a window that had less than this share of a gate's usual time.
_ENOUGH_TIME = 0.5


@dataclass(slots=True)
class Thoughts(Thinking):
    """Everything a channel can think, one thought at a time.

    A thought that fails raises its `SidecarError`, and the failure is noted: the job waits before it tries again.
    """

    _tally: Tally = field(default_factory=Tally)

    # ── SESSION.md ────────────────────────────────────────────────────────────────────────────────────────────

    async def refresh(self, timeout: float) -> tuple[Done, ...]:
        """Bring SESSION.md up to the newest message, if there is a new one; only the newest slice is thought about."""
        notes = await self.notes()
        last = await to_thread.run_sync(lambda: self.store.transcript.last_number)
        if last <= notes.ledger.refreshed:
            return ()
        *_, newest = [Window((), last, last), *windows(await self.window(notes.ledger.refreshed))]
        call = self.call(timeout)
        decision = await self._thought(
            "refresh", call, notes, lambda: self._refreshed(notes, newest, call)
        )
        done = await self.done(decision, call, notes)
        self._tally = Tally(newest.last, newest.last)
        return (done,)

    def heard(self, messages: Sequence[Message]) -> None:
        """Messages were written to the transcript: counted here, no gate needs to read them."""
        self._tally.add(messages)

    def said(self, notes: Notes, last: int) -> tuple[int, int]:
        """The turns and tool messages since the last refresh; where nobody counted, as many as there can be at most."""
        if (self._tally.after, self._tally.upto) == (notes.ledger.refreshed, last):
            return self._tally.turns, self._tally.tools
        return last - notes.ledger.refreshed, last - notes.ledger.refreshed

    def due(self) -> dict[str, gates.Gate]:
        """The gate of every idle job as it stands now, from counters and file stamps alone; for a worker thread."""
        notes, last = self.store.counted(self.store.notes()), self.store.transcript.last_number
        return self._gates(notes, last)

    async def gate(self, task: str, *, forced: bool = False) -> gates.Gate:
        """The gate of one idle job now, `forced` as when a person asks. For a refresh what was said is counted first."""
        notes = await self.notes()
        last = await to_thread.run_sync(lambda: self.store.transcript.last_number)
        gates_now = await to_thread.run_sync(partial(self._gates, notes, last, forced=forced))
        gate = gates_now[task]
        if gate and task == "refresh" and not forced:
            await self._count(notes.ledger.refreshed, last)
            gate = (await to_thread.run_sync(self._gates, notes, last))[task]
        return gate

    def _gates(self, notes: Notes, last: int, *, forced: bool = False) -> dict[str, gates.Gate]:
        said, now = self.said(notes, last), self.clock.now()
        return gates.due(notes, last, said, now, today=self.today(), forced=forced)

    async def _count(self, refreshed: int, last: int) -> None:
        """Count the turns and tool messages since the last refresh; the transcript is read once, after a start."""
        if self._tally.after != refreshed:
            self._tally = Tally(refreshed, refreshed)
        if self._tally.upto < last:
            self._tally.add(await self.window(self._tally.upto, last))

    async def _refreshed(self, notes: Notes, window: Window, call: Call) -> Decision:
        now = _time_of(window, self.clock.now())
        while True:
            try:
                return await refresh(self.assistant, notes, window, now, call)
            except ContextOverflow:
                if len(window.messages) == 1:
                    raise
                *_, window = windows(window.messages, halved(window))

    # ── MEMORY.md and HISTORY.md ──────────────────────────────────────────────────────────────────────────────

    async def consolidate(
        self, timeout: float, *, boundary: bool, upto: int | None = None
    ) -> tuple[Done, ...]:
        """Think about all talk since the cursor, slice by slice, each committed with its cursor.

        With `boundary` the last slice closes the block of HISTORY.md.
        """
        done: list[Done] = []
        while True:
            notes = await self.notes()
            slices = narrowed_windows(
                await self.window(notes.ledger.cursor, upto), notes.ledger.narrowed
            )
            if not slices:
                return (*done, *await self._close_block(notes)) if boundary else tuple(done)
            # Idle work or another process may be first. Then nothing is committed, the rest is looked at anew, and what
            # they learnt still wants its block: so the way out is always above.
            taken = sum(
                change.verb == "invalidated" for one in done for change in one.outcome.changes
            )
            last = boundary and len(slices) == 1
            done.append(await self._slice(notes, slices[0], timeout, boundary=last, taken=taken))

    async def _slice(
        self, notes: Notes, window: Window, timeout: float, *, boundary: bool, taken: int
    ) -> Done:
        since = await self._block_start(notes, window) if boundary else None
        now, call = _time_of(window, self.clock.now()), self.call(timeout)
        think = partial(
            consolidate,
            self.assistant,
            notes,
            window,
            now,
            call,
            group=self.group,
            since=since,
            today=self.today(),
        )
        try:
            decision = await self.within(timeout, think)
        except _WINDOWS_FAULT as error:
            return await self._stumbled(notes, window, error, call)
        except SidecarError as error:
            await self.failed("consolidate", str(error), call, notes)
            raise
        return await self.done(replace(decision, taken=taken), call, notes)

    async def _stumbled(
        self, notes: Notes, window: Window, error: SidecarError, call: Call
    ) -> Done:
        """Narrow the window or set it aside; where that is for the next run, the error goes on."""
        least = _ENOUGH_TIME * self.settings.model.consolidate_gate_timeout
        if isinstance(error, ModelTimeout) and call.timeout < least:
            await self.failed("consolidate", str(error), call, notes)
            raise error
        back = setback(
            notes.ledger, window, _fault(error), too_long=isinstance(error, ContextOverflow)
        )
        if not back.goes_on:
            await self.failed("consolidate", f"{back.why}: {error}", call, notes, back.progress)
            raise error
        decision = Decision(
            "consolidate", Author.RULE, (), back.progress, back.why, call.correlation
        )
        return await self.committed(decision, notes, call)

    async def _close_block(self, notes: Notes) -> tuple[Done, ...]:
        """Background runs may have consolidated everything already: their bullets still want their block."""
        ledger = notes.ledger
        if not ledger.pending or ledger.boundary >= ledger.cursor:
            return ()
        told = await self.window(ledger.boundary, ledger.cursor)
        if not told or (start := told[0].time) is None or (end := told[-1].time) is None:
            return ()
        progress = Progress(boundary=ledger.cursor, pending=(), expect_cursor=ledger.cursor)
        block = AddBlock(min(start, end), end, "", ledger.pending)
        decision = Decision("consolidate", Author.RULE, (block,), progress, why="boundary")
        return (await self.committed(decision, notes),)

    async def _block_start(self, notes: Notes, window: Window) -> datetime | None:
        first = await self.window(notes.ledger.boundary, notes.ledger.boundary + 1)
        times = [message.time for message in (*first, *window.messages) if message.time]
        return times[0] if times else self.clock.now()

    async def fill(self, hole: Hole, timeout: float) -> Done:
        """Think once more about messages that were set aside; success closes the hole, failure leaves it."""
        notes, call = await self.notes(), self.call(timeout)
        whole = list(windows(await self.window(hole.first - 1, hole.last)))
        window = whole[0] if len(whole) == 1 else Window((), hole.first, hole.last)
        now = _time_of(window, self.clock.now())
        decision = await self.within(
            timeout,
            lambda: filled(
                self.assistant, notes, hole, window, now, call, group=self.group, today=self.today()
            ),
        )
        return await self.committed(decision, notes, call)

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────────────────

    async def rerank(
        self, found: Recall, text: str, limits: Limits, shown: frozenset[str]
    ) -> Recall:
        """What was found, in the order a model gives; somebody waits, so only for seconds."""
        call = self.call(self.settings.model.rerank_timeout)
        return await self.within(
            call.timeout, lambda: rerank(self.assistant, found, text, limits, shown, call)
        )

    # ── idle jobs ─────────────────────────────────────────────────────────────────────────────────────────────

    async def tidy(self, timeout: float) -> tuple[Done, ...]:
        """Merge, re-file and drop in MEMORY.md."""
        notes, now, call = await self.notes(), self.clock.now(), self.call(timeout)
        decision = await self._thought(
            "tidy", call, notes, lambda: tidy(self.assistant, notes, now, call)
        )
        return await self._looked_over(decision, File.MEMORY, call, notes)

    async def fold(self, timeout: float) -> tuple[Done, ...]:
        """Fold the older blocks of HISTORY.md by month."""
        notes, call, archive = await self.notes(), self.call(timeout), await self.archive()
        decision = await self._thought(
            "fold", call, notes, lambda: fold(self.assistant, notes, archive, call)
        )
        return await self._looked_over(decision, File.HISTORY, call, notes)

    async def _looked_over(
        self, decision: Decision, file: File, call: Call, notes: Notes
    ) -> tuple[Done, ...]:
        checked = await self.checked(decision, notes)
        return (await self.done(replace(checked, looked_at=file), call, notes),)

    async def expire(self) -> tuple[Done, ...]:
        """Put into the archive what has had its time."""
        notes = await self.notes()
        decision = await self.checked(expired(notes, self.today()), notes)
        decision = replace(decision, correlation=self.correlate())
        return (await self.committed(decision, notes, actor="pipimem"),)

    async def _thought(
        self, task: str, call: Call, seen: Notes, think: Callable[[], Awaitable[Decision]]
    ) -> Decision:
        try:
            return await self.within(call.timeout, think)
        except SidecarError as error:
            await self.failed(task, str(error), call, seen)
            raise


def _fault(error: SidecarError) -> str:
    """Stable words for the ledger: what a model said may quote what somebody wants forgotten."""
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
    return max((message.time for message in window.messages if message.time), default=now)
