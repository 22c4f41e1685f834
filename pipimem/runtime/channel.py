"""A channel: one conversation with its memory, as a host talks to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
from anyio import to_thread

from pipimem.errors import PipimemError, described, require_type
from pipimem.notes.message import Message, checked_messages
from pipimem.recall.items import with_copies
from pipimem.recall.recall import Recall
from pipimem.runtime.call_arguments import require_deadline, require_limit, require_question
from pipimem.runtime.channel_memory import ChannelMemory
from pipimem.runtime.compaction import begin_epoch, consolidated_receipt, missing_messages
from pipimem.runtime.intake import Intake
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.transcript_writer import TranscriptWriter, Write
from pipimem.runtime.turn_recall import TurnRecall
from pipimem.runtime.turns import Receipt, Turn, session_prompt, turn_of
from pipimem.settings import Settings
from pipimem.store.caches.channel_caches import TurnFigures

# The job, as the operator reads of it.
_RECALL = "recall"


def no_op(_reading: RecallService) -> None:
    """Ignores a request: there is no embedder."""


@dataclass(slots=True, init=False, eq=False, repr=False)
class Channel(ChannelMemory):
    """One conversation and its memory; `Pipimem.channel` makes it.

    `before_turn` and `before_compaction` never raise because memory is broken.
    """

    _jobs: ChannelJobs
    _settings: Settings
    _background: Background
    _on_message: Callable[[], None]
    # Called when entries may have changed and are to be embedded.
    _request_embedding: Callable[[RecallService], None]
    # Held while somebody waits for the channel: its idle jobs are cancelled.
    _preempt: Callable[[], AbstractAsyncContextManager[None]]
    # When the channel was last used, in seconds of the clock's monotonic scale.
    _used: float
    _under_way: int = 0
    _figures: TurnFigures = field(default_factory=TurnFigures)
    _intake: Intake = field(init=False)
    _shown: set[str] = field(default_factory=set)
    _fresh: bool = True
    _has_new_messages: bool = False
    _turn_recall: TurnRecall = field(init=False)
    _writer: TranscriptWriter = field(init=False)

    def __post_init__(self) -> None:
        self._intake = Intake(self._settings.private, self._store.key, self._settings.secrets)
        self._writer = TranscriptWriter(self._store, self._intake)
        self._turn_recall = TurnRecall(
            self._recall_service,
            self._jobs,
            self._intake,
            self._settings,
            self._background,
            self._request_embedding,
        )

    def __repr__(self) -> str:
        return f"Channel({self.id!r}, {str(self._store.folder)!r})"

    @property
    def _folder(self) -> str:
        return self._store.folder.name

    @property
    def keeps_context(self) -> bool:
        """Whether the host keeps each turn's blocks in the model's context until it compacts."""
        return self._settings.recall.keeps_context

    async def session_prompt(self) -> str:
        """The system prompt's part, once a session: who the bot is, and where its memory lies.

        Raises `UnreadableNote` where SOUL.md or AGENTS.md is no text: who speaks without its rules
        is another bot.
        """
        return await to_thread.run_sync(session_prompt, self._store)

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────

    async def before_turn(
        self, text: str, *, speaker: str = "", sees_from: str | None = "", record: bool = True
    ) -> Turn:
        """The context for a user message: what holds whatever is asked, and what it asks for.

        On a session's first turn the first of them is the whole snapshot. `sees_from` is the id of
        the oldest message that the model still sees: excerpts of the transcript are older than it.
        Without it the model is taken to see of this session the newest ten messages, with `None`
        none at all; of what was said before a start, a compaction or a reset it sees nothing.

        Without `record` the turn is off the record: neither this message nor those given to its
        `after_turn` are stored, now or by a later `before_compaction`; tools only search till then.

        Reads a few file stamps and writes nothing but the marks of an unrecorded message. It calls
        a model only where one may rerank ([recall] rerank), and waits 3 s for it at most. When
        memory itself is broken the context is empty and `problem` says why. Raises `ArgumentError`
        for a `text` that is no str.
        """
        require_question(text, speaker)
        require_type(record, bool, "record")
        now, began = self._clock.now(), time.perf_counter()
        message = Turn(text, speaker, now, first=self._fresh, record=record)
        self._unrecorded.begin(message)
        message = await self._turn_recall.read(message)
        try:
            if not record:
                await self._leave_out([Message.user(text, speaker=speaker)])
            return await self._recalled_turn(message, sees_from)
        except (PipimemError, OSError) as error:
            return replace(message, problem=described(error))
        except Exception as error:  # noqa: BLE001 - no bug of ours, nor of a library, ends a turn
            fail = partial(self._background.failed, _RECALL, error, self._folder)
            return replace(message, problem=(await to_thread.run_sync(fail)).why)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 3)
            if record:
                self._figures = self._figures.and_then(TurnFigures(turns=1, waits=(milliseconds,)))

    async def _recalled_turn(self, message: Turn, sees_from: str | None) -> Turn:
        self._used = self._clock.monotonic()
        self._under_way += 1
        try:
            notes = await self._turn_recall.ready()
            await self._turn_recall.wait_for_transcript()
            shown = with_copies(self._shown if self.keeps_context else ())
            opening = await self._turn_recall.opening(notes, shown, first=self._fresh)
            shown = with_copies(opening.ids) | shown
            seen = Seen(sees_from, self.keeps_context, shown, opening.words)
            text, speaker, record = message.query, message.speaker, message.record
            found = await self._turn_recall.recalled(
                text, message.time, speaker, shown=shown, seen=seen, record=record
            )
        finally:
            self._under_way -= 1
        if self._recall_service.transcript_recall.is_missing:
            self._request_warming(self._recall_service)
        if record:
            found = await self._turn_recall.reranked(found, text, shown)
        message = replace(message, problem=self._turn_recall.unknown_id_problem())
        return turn_of(message, opening, found, notes)

    async def recall(
        self, text: str, *, speaker: str = "", limit: int | None = None, automatic: bool = True
    ) -> Recall:
        """What would be recalled for a message, with every score; nothing is marked as shown."""
        require_question(text, speaker)
        require_limit(limit)
        self._used = self._clock.monotonic()
        self._under_way += 1
        try:
            await self._turn_recall.ready()
            return await self._turn_recall.recalled(
                text, self._clock.now(), speaker, limit=limit, automatic=automatic
            )
        finally:
            self._under_way -= 1

    async def after_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        """Store the turn's messages, unless it is off the record; what it showed counts as shown.

        Raises `StoreError`; `ArgumentError`, before anything is stored, for what is no message.
        """
        require_type(turn, (Turn, type(None)), "turn", "Give what before_turn returned.")
        messages = checked_messages(messages)
        if turn is not None and not turn.record:
            await self._leave_out(messages)
        else:
            await self._store_turn(turn, messages)
        if turn is not None:
            await self._forget_again(turn.time)
            self._unrecorded.end(turn)
            self._shown.update(turn.shown)
            self._fresh = False
        await self._jobs.journal_seen_edits()
        self._used = self._clock.monotonic()
        self._request_embedding(self._recall_service)
        self._request_warming(self._recall_service)
        self._on_message()

    async def _store_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        if turn is not None:
            # Before the talk is written: cut off in between, the turn comes again and counts once.
            await self._turn_recall.count(turn)
        write = partial(self._writer.write_turn, began=turn.time if turn else None)
        async with self._lock:
            await self._append(messages, write)

    async def _leave_out(self, messages: Sequence[Message]) -> None:
        """Marks them; without the channel's lock, for a turn waits for no compaction."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._writer.leave_out, messages, self._clock.now())

    async def take_in(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Append messages, cleaned and synced; those with known ids are skipped."""
        messages = checked_messages(messages)
        async with self._lock:
            return await self._append(messages, self._writer.write)

    async def _append(self, messages: Sequence[Message], write: Write) -> tuple[Message, ...]:
        """Calls `write` in a thread; the caller holds the lock."""
        if not messages:
            return ()
        with anyio.CancelScope(shield=True):
            written = await to_thread.run_sync(write, messages, self._clock.now())
        self._has_new_messages = self._has_new_messages or bool(written)
        self._jobs.count_written(written)
        return written

    # ── a compaction ──────────────────────────────────────────────────────────────────────────────

    async def before_compaction(
        self, messages: Sequence[Message] = (), *, deadline: float | None = None
    ) -> Receipt:
        """Store and consolidate all messages before the host drops them, within `deadline` s.

        Messages the transcript lacks are taken in first. Then one question a window brings the
        three files up to date. An idle job is cancelled. Raises `ArgumentError` for no message.
        """
        require_deadline(deadline)
        checked = checked_messages(messages)
        async with self._preempt():
            return await self._before_compaction(checked, deadline)

    async def _before_compaction(
        self, messages: Sequence[Message], deadline: float | None
    ) -> Receipt:
        try:
            # What is missing stays so until it is written: nobody else writes in between.
            async with self._lock:
                missing = await missing_messages(self._jobs, self._writer, messages)
                await self._append(missing, self._writer.write_at_gate)
            covered = await to_thread.run_sync(lambda: self._store.transcript.last_number)
        except (PipimemError, OSError) as error:
            return Receipt(False, "failed", 0, 0, described(error))
        seconds = self._settings.model.consolidate_gate_timeout if deadline is None else deadline
        receipt = await consolidated_receipt(self._jobs, covered, seconds)
        self._has_new_messages = self._has_new_messages and receipt.state != "consolidated"
        return receipt

    async def compacted(self, receipt: Receipt) -> None:
        """Begin a new epoch after the host dropped what `receipt` covers; a snapshot is due."""
        require_type(receipt, Receipt, "receipt", "Give what before_compaction returned.")
        self._recall_service.transcript_recall.begin_session(receipt.covered)
        self._shown.clear()
        self._unrecorded.clear()
        self._fresh = True  # whatever the disk says: the host's model sees nothing any more
        self._writer.begin_session()
        await begin_epoch(self._jobs, receipt.covered)
        await to_thread.run_sync(self._writer.end_epoch)

    async def reset(self, *, deadline: float | None = None) -> Receipt:
        """The session ends: as before a compaction, then a new one begins."""
        receipt = await self.before_compaction(deadline=deadline)
        if receipt.may_compact:
            await self.compacted(receipt)
        return receipt

    async def close(self, *, deadline: float | None = None) -> Receipt | None:
        """Consolidate what was said since the last boundary, and sync the files."""
        receipt = None
        if self._has_new_messages:
            receipt = await self.before_compaction(deadline=deadline)
        await self._close()
        return receipt

    async def _close(self) -> None:
        figures, self._figures = self._figures.and_then(self._writer.taken_figures()), TurnFigures()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._write_caches, figures)

    def _write_caches(self, figures: TurnFigures) -> None:
        self._store.close()
        with suppress(PipimemError, OSError):  # a start without it takes longer, that is all
            if figures != TurnFigures():
                self._store.caches.add_figures(figures)
            if figures.turns:
                self._recall_service.transcript_recall.keep()
            self._recall_service.keep_words()
            self._recall_service.keep_vectors()
