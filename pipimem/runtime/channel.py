"""A channel: one conversation with its memory, as a host talks to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.errors import PipimemError, SidecarError, StoreError, described, require_type
from pipimem.llm.embedding import Vector
from pipimem.memory.confirm import confirmed, recalled_entries
from pipimem.memory.requests import MemoryRequest, requests
from pipimem.notes.ledger import Asked
from pipimem.notes.message import Message, checked_messages
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Progress
from pipimem.recall.recall import Recall, unsure
from pipimem.recall.refinement import both_ends
from pipimem.runtime.channel_memory import ChannelMemory
from pipimem.runtime.compaction import consolidated_receipt, missing_messages
from pipimem.runtime.intake import Intake
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.opening import Opening
from pipimem.runtime.recall_service import RecallService, limits_of
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turns import Receipt, Turn, session_prompt, turn_of
from pipimem.settings import Settings
from pipimem.store.caches.channel_caches import Kept

T = TypeVar("T")

# A question says what it is about at its beginning.
_QUESTION_CHARS = 300
# The job, as the operator reads of it.
_RECALL, _RERANK, _REQUESTS = "recall", "rerank", "reading requests"
# What hosts have in its place is a message of parts.
_TEXT_HINT = "Join the texts of its parts; a message without words is an empty one."
# Cutting so many characters into words, and looking for them, takes some 5 ms.
_LONG_QUESTION = 400
# The first question of a process waits so long at most for the index of the transcript: reading a
# kept one of 100,000 messages takes 0.05 s, cutting 1,000 messages 0.2 s.
_FIRST_WAIT_SECONDS = 1.0
# A host that names a wrong message would be shown twice what its model sees.
_UNKNOWN_ID = (
    "sees_from: {!r} is the id of none of the newest messages here, so what the model still sees "
    "was guessed. Give the id that the message was stored with, or none."
)
# Of one candidate there is no order.
_LEAST_TO_RERANK = 2


def no_op(_reading: RecallService) -> None:
    """Without an embedder nothing is to be embedded."""


@dataclass(slots=True, init=False, eq=False, repr=False)
class Channel(ChannelMemory):
    """One conversation and its memory; `Pipimem.channel` makes it.

    `before_turn` and `before_compaction` never raise because memory is broken.
    """

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
    _figures: Kept = field(default_factory=Kept)
    _intake: Intake = field(default_factory=Intake)
    _shown: set[str] = field(default_factory=set)
    _fresh: bool = True
    # The first question compiles patterns and opens dictionaries.
    _has_asked: bool = False
    _has_new_messages: bool = False

    def __repr__(self) -> str:
        return f"Channel({self.id!r}, {str(self._store.folder)!r})"

    @property
    def _folder(self) -> str:
        return self._store.folder.name

    async def session_prompt(self) -> str:
        """The system prompt's part, once a session: who the bot is, and where its memory lies.

        Raises `UnreadableNote` where SOUL.md or AGENTS.md is no text: who speaks without its rules
        is another bot.
        """
        return await to_thread.run_sync(session_prompt, self._store)

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────

    async def before_turn(self, text: str, *, speaker: str = "", sees_from: str = "") -> Turn:
        """The context for a user message: what holds whatever is asked, and what it asks for.

        On a session's first turn the first of them is the whole snapshot. `sees_from` is the id of
        the oldest message that the model still sees: excerpts of the transcript are older than it.
        Without it the model is taken to see of this session the newest ten messages; of what was
        said before a start, a compaction or a reset it sees nothing.

        Reads a few file stamps and writes nothing. It calls a model only where one may rerank
        ([recall] rerank), and waits 3 s for it at most. When memory itself is broken the context is
        empty and `problem` says why. Raises `ArgumentError` for a `text` that is no str.
        """
        require_type(text, str, "text", _TEXT_HINT)
        require_type(speaker, str, "speaker", "Without a name it is empty.")
        now, began = self._clock.now(), time.perf_counter()
        asked = await self._requests(text, speaker)
        message = Turn(text, speaker, now, first=self._fresh, requests=asked)
        try:
            return await self._recalled_turn(message, sees_from)
        except (PipimemError, OSError) as error:
            return replace(message, problem=described(error))
        except Exception as error:  # noqa: BLE001 - no bug of ours, nor of a library, ends a turn
            fail = partial(self._background.failed, _RECALL, error, self._folder)
            return replace(message, problem=(await to_thread.run_sync(fail)).why)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 3)
            self._figures = self._figures.and_then(Kept(turns=1, waits=(milliseconds,)))

    async def _recalled_turn(self, message: Turn, sees_from: str) -> Turn:
        self._used = self._clock.monotonic()
        self._under_way += 1
        try:
            notes = await self._ready()
            if not self._has_asked:
                wait = self._recall_service.transcript_recall.wait
                await to_thread.run_sync(wait, _FIRST_WAIT_SECONDS)
            opening = await self._opening(notes)
            shown = opening.ids | self._shown if self._keeps_context else opening.ids
            seen = Seen(sees_from, self._keeps_context, shown, opening.words)
            found = await self._recalled(
                message.query, message.time, message.speaker, shown=shown, seen=seen
            )
        finally:
            self._under_way -= 1
        found = await self._reranked(found, message.query, shown)
        unknown = self._recall_service.transcript_recall.unknown_id()
        if unknown:
            message = replace(message, problem=_UNKNOWN_ID.format(unknown))
        return turn_of(message, opening, found, notes)

    async def recall(
        self, text: str, *, speaker: str = "", limit: int | None = None, automatic: bool = True
    ) -> Recall:
        """What would be recalled for a message, with every score; nothing is marked as shown."""
        require_type(text, str, "text", _TEXT_HINT)
        require_type(speaker, str, "speaker", "Without a name it is empty.")
        self._used = self._clock.monotonic()
        self._under_way += 1
        try:
            await self._ready()
            return await self._recalled(
                text, self._clock.now(), speaker, limit=limit, automatic=automatic
            )
        finally:
            self._under_way -= 1

    async def _requests(self, text: str, speaker: str) -> tuple[MemoryRequest, ...]:
        """What a message asks of memory, as it may be kept; cleaned in a thread, and only then."""
        try:
            if not requests(text):
                return ()
            cleaned = await to_thread.run_sync(self._intake.cleaned_text, text, speaker)
            return requests(cleaned, speaker)
        except Exception as error:  # noqa: BLE001 - as above
            await to_thread.run_sync(self._background.failed, _REQUESTS, error, self._folder)
            return ()

    async def _recalled(
        self,
        text: str,
        now: datetime,
        speaker: str,
        *,
        limit: int | None = None,
        automatic: bool = True,
        shown: frozenset[str] = frozenset(),
        seen: Seen | None = None,
    ) -> Recall:
        """The recall on the notes as last read."""
        recalled = partial(
            self._recall_service.recalled,
            text,
            now,
            speaker=speaker,
            limit=limit,
            automatic=automatic,
            shown=shown,
            question=await self._question(text, now, automatic=automatic),
            seen=seen,
        )
        return await self._ask_in_thread(text, recalled)

    async def after_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        """Store the turn's messages; what it showed counts as shown.

        Raises `StoreError`; `ArgumentError`, before anything is stored, for what is no message.
        """
        require_type(turn, (Turn, type(None)), "turn", "Give what before_turn returned.")
        messages = checked_messages(messages)
        if turn is not None:
            # Before the talk is written: cut off in between, the turn comes again and counts once.
            await self._count_recalls(turn)
        await self.take_in(messages)
        if turn is not None:
            await self._forget_again(turn.time)
            self._shown.update(turn.shown)
            self._fresh = False
        self._used = self._clock.monotonic()
        self._request_embedding(self._recall_service)
        self._request_warming(self._recall_service)
        self._on_message()

    async def take_in(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Append messages, cleaned and synced; those with known ids are skipped."""
        messages = checked_messages(messages)
        async with self._lock:
            return await self._append(messages)

    async def _append(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Does what `take_in` says; the caller holds the lock."""
        if not messages:
            return ()
        with anyio.CancelScope(shield=True):
            written = await to_thread.run_sync(self._written, messages, self._clock.now())
        self._has_new_messages = self._has_new_messages or bool(written)
        self._jobs.count_written(written)
        return written

    def _written(self, messages: Sequence[Message], now: datetime) -> tuple[Message, ...]:
        cleaned = self._intake.cleaned(messages, now)
        return self._store.append(cleaned) if cleaned else ()

    # ── a compaction ──────────────────────────────────────────────────────────────────────────────

    async def before_compaction(
        self, messages: Sequence[Message] = (), *, deadline: float | None = None
    ) -> Receipt:
        """Store and consolidate all messages before the host drops them, within `deadline` s.

        Messages the transcript lacks are taken in first. Then one question a window brings
        SESSION.md, MEMORY.md and HISTORY.md up to date. An idle job of this channel is cancelled.
        Raises `ArgumentError` for what is no message.
        """
        require_type(deadline, (int, float, type(None)), "deadline", "Give seconds.")
        messages = checked_messages(messages)
        async with self._preempt():
            return await self._before_compaction(messages, deadline)

    async def _before_compaction(
        self, messages: Sequence[Message], deadline: float | None
    ) -> Receipt:
        try:
            # What is missing stays so until it is written: nobody else writes in between.
            async with self._lock:
                await self._append(await missing_messages(self._jobs, messages))
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
        ledger = (await self._jobs.notes()).ledger
        progress = Progress(
            epoch=ledger.epoch + 1, epoch_start=max(receipt.covered, ledger.epoch_start)
        )
        await self._jobs.commit(
            Decision("epoch", Author.RULE, progress=progress, why="compacted"), "pipimem"
        )
        self._recall_service.transcript_recall.begin_session(receipt.covered)
        self._begin_session()

    async def reset(self, *, deadline: float | None = None) -> Receipt:
        """The session ends: as before a compaction, then a new one begins."""
        receipt = await self.before_compaction(deadline=deadline)
        if receipt.may_compact:
            await self.compacted(receipt)
            self._intake.end_session()
        return receipt

    async def close(self, *, deadline: float | None = None) -> Receipt | None:
        """Consolidate what was said since the last boundary, and sync the files."""
        receipt = (
            await self.before_compaction(deadline=deadline) if self._has_new_messages else None
        )
        await self._close()
        return receipt

    async def _close(self) -> None:
        figures, self._figures = self._figures, Kept()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._write_caches, figures)

    def _write_caches(self, figures: Kept) -> None:
        self._store.close()
        with suppress(PipimemError, OSError):  # a start without it takes longer, that is all
            if figures.turns:
                self._store.caches.add_figures(figures)
                self._recall_service.transcript_recall.keep()
            self._recall_service.keep_words()
            self._recall_service.keep_vectors()

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    async def _count_recalls(self, turn: Turn) -> None:
        """Count entries that the question found, printed or not; may end a probation."""
        if turn.recall is None or not turn.recall.candidates:
            return
        decision = await to_thread.run_sync(self._counted, turn, turn.recall)
        if decision is not None:
            # The talk that comes after this must reach the disk; a probation ends as well with the
            # next recall.
            with suppress(PipimemError):
                await self._jobs.commit(decision, "pipimem")

    def _counted(self, turn: Turn, recall: Recall) -> Decision | None:
        """Counts what a turn recalled; the decision that ends the probations of what was."""
        question = self._intake.cleaned_text(turn.query, turn.speaker)[:_QUESTION_CHARS]
        best = recall.candidates[: self._settings.recall.inject]
        # What was shown before or had no room was asked for all the same; what only stands in the
        # snapshot was not.
        found = tuple(dict.fromkeys((*recall.ids, *(one.item.id for one in best))))
        asked = (
            Asked(question, turn.time.isoformat(timespec="seconds"), found)
            if question.strip()
            else None
        )
        try:
            notes = self._store.notes(refresh=False)
        except (
            PipimemError
        ):  # read anew after a rest, and unreadable now: the talk must reach the disk all the same
            return None
        recalled = recalled_entries(notes, found)
        self._store.touch_recalls([entry.id for entry in recalled], turn.time, asked)
        return confirmed(notes.ledger, recalled)

    async def _reranked(self, found: Recall, text: str, shown: frozenset[str]) -> Recall:
        """The recall reordered by a model if allowed and unsure; unchanged on any failure."""
        policy, limits = self._settings.recall.rerank, limits_of(self._settings.recall)
        if (
            policy == "never"
            or not self._jobs.assistant.paid
            or len(found.candidates) < _LEAST_TO_RERANK
        ):
            return found
        if policy == "auto" and not unsure(found.candidates, limits, shown):
            return found
        if self._background.pause(_RERANK, self._folder):
            return found
        try:
            ordered = await self._background.attempt(
                _RERANK,
                lambda: self._jobs.rerank(found, text, limits, shown),
                self._folder,
                passes=(SidecarError, StoreError),
            )
        except (
            SidecarError,
            StoreError,
        ):  # a disk that cannot keep the account of it must not stop a turn either
            return found
        return found if isinstance(ordered, Failure) else ordered

    def _begin_session(self) -> None:
        self._shown.clear()
        self._fresh = True

    async def _ready(self) -> Notes:
        """Fresh notes with the index updated; in a thread where files changed."""
        unchanged = self._store.unchanged()
        if self._recall_service.is_up_to(unchanged):
            return self._recall_service.notes(unchanged)
        return await to_thread.run_sync(self._recall_service.notes)

    async def _ask_in_thread(self, text: str, ask: Callable[[], T]) -> T:
        """Call `ask`, in a thread where it may take long: a long text, or words not loaded."""
        words, asked = self._recall_service.vocabulary.words, both_ends(text)
        if self._has_asked and len(asked) <= _LONG_QUESTION and words.is_ready_for(asked):
            return ask()
        found = await to_thread.run_sync(ask)
        self._has_asked = True
        return found

    async def _question(self, text: str, now: datetime, *, automatic: bool = True) -> Vector | None:
        """The embedding of a message, `None` if it is late or of no use."""
        embeddings = self._recall_service.embeddings
        if embeddings is None:
            return None
        self._request_embedding(self._recall_service)
        ask = partial(self._recall_service.wants_meaning, text, now, automatic=automatic)
        if not await self._ask_in_thread(text, ask):
            return None
        found = None
        with anyio.move_on_after(self._settings.embedder.timeout):
            found = await to_thread.run_sync(embeddings.question, text, abandon_on_cancel=True)
        # While this waited, others' questions may have laid the index to rest.
        await self._ready()
        return found

    @property
    def _keeps_context(self) -> bool:
        return self._settings.recall.keeps_context

    async def _opening(self, notes: Notes) -> Opening:
        """What this turn begins with; in a thread where that was not made of these notes yet."""
        service, first = self._recall_service, self._fresh
        opening = service.known_opening(first=first)
        if opening is None:
            opening = await to_thread.run_sync(partial(service.opening, first=first))
        if first or not self._keeps_context:
            return opening
        if opening.ids <= self._shown:
            return Opening()
        return opening.without(self._shown, notes)
