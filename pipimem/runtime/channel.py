"""A channel: one conversation with its memory, as a host talks to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import NothingFound, PipimemError, SidecarError, StoreError
from pipimem.memory.confirm import confirmed, recalled_entries
from pipimem.memory.remember import remembered
from pipimem.memory.snapshot import Snapshot, snapshot
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Asked
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Hole, Progress
from pipimem.recall.budgeting import rows_of
from pipimem.recall.recalling import Recall
from pipimem.recall.refinement import both_ends
from pipimem.recall.reranking import unsure
from pipimem.runtime.background import Background, Failure
from pipimem.runtime.compaction import brought_in, lacking
from pipimem.runtime.embedding import JOB as EMBEDDING
from pipimem.runtime.embedding import embedded
from pipimem.runtime.intake import Intake
from pipimem.runtime.library import kept_up
from pipimem.runtime.maintenance import Ran, maintained
from pipimem.runtime.prompting import session_prompt
from pipimem.runtime.reading import Reading
from pipimem.runtime.rehearsal import Rehearsal
from pipimem.runtime.thoughts import Thoughts
from pipimem.runtime.turns import Receipt, Turn
from pipimem.settings import Settings
from pipimem.sidecar.embedding.embedder import Vector
from pipimem.store.channel import ChannelStore
from pipimem.store.commits.committing import Committed
from pipimem.text.fence import NOTE, fenced

T = TypeVar("T")

# A question says what it is about at its beginning.
_QUESTION_CHARS = 300
# Of what was said since the last time, idle work indexes so much at once: 0.3 s of a thread beside others' turns.
_INDEXED_AT_ONCE = 2_000
# The job, as the operator reads of it.
_RERANK = "rerank"
# Cutting so many characters into words, and looking for them, takes some 5 ms.
_LONG_QUESTION = 400
# Of one candidate there is no order.
_LEAST_TO_RERANK = 2


def unwanted(_reading: Reading) -> None:
    """Without an embedder nothing is to be embedded."""


@dataclass(slots=True)
class Channel:
    """One conversation; made by `Pipimem.channel`.

    `before_turn` and `before_compaction` return, they do not raise, for memory's sake.
    """

    store: ChannelStore
    thoughts: Thoughts
    settings: Settings
    clock: Clock
    reading: Reading
    background: Background
    nonce: Callable[[], str]
    touched: Callable[[str], None]
    # Entries that changed are to be embedded, where there is an embedder.
    wanted: Callable[[Reading], None] = unwanted
    # Held while somebody waits for the channel: idle thoughts stay out of the way.
    ahead: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    # When the channel was last used, on the clock's monotonic scale.
    used: float = float("-inf")
    _under_way: int = 0
    _intake: Intake = field(default_factory=Intake)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _shown: set[str] = field(default_factory=set)
    _fresh: bool = True
    # The first question compiles patterns and opens dictionaries.
    _has_asked: bool = False
    _spoke: bool = False

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self.store.channel_id

    async def notes(self) -> Notes:
        """The channel's notes as they stand on disk now."""
        return await self.thoughts.notes()

    async def session_prompt(self) -> str:
        """The system prompt's part, once a session: who the bot is, and where its memory lies.

        Raises `UnreadableNote` where SOUL.md or AGENTS.md is no text: who speaks without its rules is another bot.
        """
        return await to_thread.run_sync(lambda: session_prompt(self.store))

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────────────────

    async def before_turn(self, text: str, *, speaker: str = "") -> Turn:
        """What memory has to say to a message: the snapshot on a session's first turn, and what is recalled.

        Reads a few file stamps and writes nothing. It calls a model only where one may rerank ([recall] rerank), and
        waits 3 s for it at most. When memory itself is broken the context is empty and `problem` says why.
        """
        now, self.used = self.clock.now(), self.clock.monotonic()
        self._under_way += 1
        try:
            with self.reading.waited_for():
                notes = await self._ready()
                seen = frozenset() if self.settings.recall.repeat else frozenset(self._shown)
                question = await self._question(text, now, speaker)
                ask = partial(
                    self.reading.recalled, text, now, speaker=speaker, shown=seen, question=question
                )
                found = await self._beside(text, ask)
                found = await self._reranked(found, text, seen)
        except (PipimemError, OSError) as error:
            return Turn(text, speaker, "", now, first=self._fresh, problem=str(error))
        finally:
            self._under_way -= 1
        opening = await to_thread.run_sync(self._snapshot, notes) if self._fresh else Snapshot()
        shown = {item.id for item in opening.items}
        items = [*opening.items, *(item for item in found.injected if item.id not in shown)]
        note = _note(opening.left_out + found.left_out)
        context = fenced(rows_of(items), self.nonce(), note) if items else ""
        return Turn(
            text, speaker, context, now, tuple(item.id for item in items), self._fresh, found
        )

    async def recall(
        self, text: str, *, speaker: str = "", limit: int | None = None, automatic: bool = True
    ) -> Recall:
        """What would be recalled for a message, with every score; nothing is marked as shown."""
        self.used = self.clock.monotonic()
        self._under_way += 1
        try:
            await self._ready()
        finally:
            self._under_way -= 1
        now = self.clock.now()
        question = await self._question(text, now, speaker, automatic=automatic)
        ask = partial(
            self.reading.recalled,
            text,
            now,
            speaker=speaker,
            limit=limit,
            automatic=automatic,
            question=question,
        )
        return await self._beside(text, ask)

    async def after_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        """Take in what was said; the turn's snapshot and recall now count as shown. Raises `StoreError`."""
        if turn is not None:
            # Before the talk is written: cut off in between, the turn comes again and counts once.
            await self._count_recalls(turn)
        await self.take_in(messages)
        if turn is not None:
            self._shown.update(turn.shown)
            self._fresh = False
        self.used = self.clock.monotonic()
        self.wanted(self.reading)
        self.touched(self.id)

    async def take_in(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Write messages to the transcript, synced, without secrets and private stretches; known ids are skipped."""
        messages = tuple(messages)
        if not messages:
            return ()
        async with self._lock:
            with anyio.CancelScope(shield=True):
                written = await to_thread.run_sync(self._written, messages, self.clock.now())
        self._spoke = self._spoke or bool(written)
        self.thoughts.heard(written)
        return written

    def _written(self, messages: Sequence[Message], now: datetime) -> tuple[Message, ...]:
        cleaned = self._intake.cleaned(messages, now)
        return self.store.append(cleaned) if cleaned else ()

    # ── a compaction ──────────────────────────────────────────────────────────────────────────────────────────

    async def before_compaction(
        self, messages: Sequence[Message] = (), *, deadline: float | None = None
    ) -> Receipt:
        """Make everything said so far durable before the host drops it, within `deadline` seconds (a setting).

        Messages the transcript lacks are taken in first. Then SESSION.md, MEMORY.md and HISTORY.md are brought up to
        date, in this order; a failed refresh does not stop the rest. An idle thought of this channel is cancelled.
        """
        async with self.ahead():
            return await self._before_compaction(messages, deadline)

    async def _before_compaction(
        self, messages: Sequence[Message], deadline: float | None
    ) -> Receipt:
        try:
            await self.take_in(await lacking(self.thoughts, messages))
            covered = await to_thread.run_sync(lambda: self.store.transcript.last_number)
        except (PipimemError, OSError) as error:
            return Receipt(False, "failed", 0, 0, str(error))
        seconds = self.settings.model.consolidate_gate_timeout if deadline is None else deadline
        receipt = await brought_in(self.thoughts, covered, seconds)
        self._spoke = self._spoke and receipt.state != "consolidated"
        return receipt

    async def compacted(self, receipt: Receipt) -> None:
        """The host has dropped what the receipt covers: a new epoch begins, and the snapshot is due again."""
        ledger = (await self.notes()).ledger
        progress = Progress(
            epoch=ledger.epoch + 1, epoch_start=max(receipt.covered, ledger.epoch_start)
        )
        await self.thoughts.commit(
            Decision("epoch", Author.RULE, progress=progress, why="compacted"), "pipimem"
        )
        self._begin_session()

    async def reset(self, *, deadline: float | None = None) -> Receipt:
        """The session ends: as before a compaction, then a new one begins."""
        receipt = await self.before_compaction(deadline=deadline)
        if receipt.may_compact:
            await self.compacted(receipt)
            self._intake.end_session()
        return receipt

    async def close(self, *, deadline: float | None = None) -> Receipt | None:
        """Shutdown: what was said since the last boundary is consolidated, and the files are synced."""
        receipt = await self.before_compaction(deadline=deadline) if self._spoke else None
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._close)
        return receipt

    def _close(self) -> None:
        self.store.close()
        with suppress(PipimemError, OSError):  # a start without it takes longer, that is all
            self.reading.keep_figures()
            self.reading.keep_words()
            self.reading.keep_vectors()

    # ── by hand ───────────────────────────────────────────────────────────────────────────────────────────────

    async def remember(
        self, text: str, *, kind: Kind = Kind.FACT, speaker: str = "", until: date | None = None
    ) -> Committed:
        """Write what a person asked to remember, word for word but without secrets; `until` is the last day it holds."""
        if not text.strip():
            raise NothingFound("there is nothing to remember: the text is empty")
        message = Message.user(text, speaker=speaker)
        decision, speaker = await to_thread.run_sync(
            _remembered, message, kind, until, self.clock.now()
        )
        return await self.thoughts.commit(decision, speaker or "person")

    async def forget(
        self, what: str | Sequence[str], *, keep_transcript: bool = False
    ) -> dict[str, int]:
        """Take a text, or entries by their ids, out of everything the channel keeps; the counts say from where."""
        now = self.clock.wall()
        async with self._lock:
            with anyio.CancelScope(shield=True):
                receipt = await to_thread.run_sync(
                    lambda: self.store.forget(
                        what, keep_transcript=keep_transcript, now=now, actor="person"
                    )
                )
        return receipt.counts

    async def maintain(self, *, forced: bool = False, dry_run: bool = False) -> list[Ran]:
        """Run the idle jobs that are due; `forced` skips their pauses, `dry_run` thinks but commits nothing."""
        thoughts = Rehearsal.of(self.thoughts) if dry_run else self.thoughts
        ran = await maintained(thoughts, self.background, forced=forced)
        folder, meaning = self.store.folder.name, self.reading.meaning
        if (
            meaning is not None
            and not dry_run
            and (forced or not self.background.pause(EMBEDDING, folder))
        ):
            await self._ready()
            await self.background.attempt(
                EMBEDDING, partial(embedded, self.reading, meaning), folder
            )
        return ran

    async def fill_holes(self) -> dict[Hole, str]:
        """Try what was set aside once more; by hole why it is still one, empty where it was closed."""
        told: dict[Hole, str] = {}
        for hole in self.store.ledger.holes:
            try:
                await self.thoughts.fill(hole, self.settings.model.consolidate_timeout)
                told[hole] = (
                    ""
                    if hole not in self.store.ledger.holes
                    else "something else was committed meanwhile"
                )
            except SidecarError as error:
                told[hole] = str(error)
        return told

    # ── idle work ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_awake(self) -> bool:
        """Whether what was read of the channel is still held in memory."""
        return self.reading.is_warm or self.store.is_awake

    async def settle(self) -> None:
        """Write what waits for an occasion: recall counts, a checkpoint, words for the next start; nothing where nothing waits."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._close)
        await self.keep_search(_INDEXED_AT_ONCE)

    async def keep_search(self, most: int | None = None) -> None:
        """Bring the kept index of the transcript up to it, `most` messages at once; no loss where that fails."""
        with suppress(PipimemError, OSError):
            await to_thread.run_sync(kept_up, self.store, self.reading.vocabulary, most)

    async def rest(self) -> None:
        """Let go of what was read: the next use reads it again. What this session was shown stays known."""
        await to_thread.run_sync(self.store.rest)
        if not self._under_way:  # a first reading goes on in a thread of its own
            self.reading.rest()

    # ── inside ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _count_recalls(self, turn: Turn) -> None:
        """A recall counts with the next commit; one that ends a probation is a commit of its own."""
        if turn.recall is None or not turn.recall.injected:
            return
        if decision := await to_thread.run_sync(self._counted, turn, turn.recall):
            # The talk that comes after this must reach the disk; a probation ends as well with the next recall.
            with suppress(PipimemError):
                await self.thoughts.commit(decision, "pipimem")

    def _counted(self, turn: Turn, recall: Recall) -> Decision | None:
        """Counts what a turn recalled; the decision that ends the probations of what was."""
        question = self._intake.kept(turn.query, turn.speaker)[:_QUESTION_CHARS]
        found = tuple(item.id for item in recall.injected)
        asked = (
            Asked(question, turn.time.isoformat(timespec="seconds"), found)
            if question.strip()
            else None
        )
        try:
            notes = self.store.notes(refresh=False)
        except (
            PipimemError
        ):  # read anew after a rest, and unreadable now: the talk must reach the disk all the same
            return None
        recalled = recalled_entries(notes, found)
        self.store.touch_recalls([entry.id for entry in recalled], turn.time, asked)
        return confirmed(notes.ledger, recalled)

    async def _reranked(self, found: Recall, text: str, shown: frozenset[str]) -> Recall:
        """What a model makes of the order, if it may and the order is unsure; whatever fails, the order stays."""
        policy, limits = self.settings.recall.rerank, self.reading.limits()
        if (
            policy == "never"
            or not self.thoughts.assistant.paid
            or len(found.candidates) < _LEAST_TO_RERANK
        ):
            return found
        if policy == "auto" and not unsure(found.candidates, limits, shown):
            return found
        folder = self.store.folder.name
        if self.background.pause(_RERANK, folder):
            return found
        try:
            ordered = await self.background.attempt(
                _RERANK,
                lambda: self.thoughts.rerank(found, text, limits, shown),
                folder,
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
        """Fresh notes with the index brought up to them: a few stats, and a thread where anything changed."""
        unchanged = self.store.unchanged()
        if self.reading.is_up_to(unchanged):
            return self.reading.notes(unchanged)
        return await to_thread.run_sync(self.reading.notes)

    async def _beside(self, text: str, ask: Callable[[], T]) -> T:
        """What a question finds; a thread's work where it is long, or words or dictionary must be loaded first."""
        words, asked = self.reading.vocabulary.words, both_ends(text)
        if self._has_asked and len(asked) <= _LONG_QUESTION and words.is_ready_for(asked):
            return ask()
        found = await to_thread.run_sync(ask)
        self._has_asked = True
        return found

    async def _question(
        self, text: str, now: datetime, speaker: str, *, automatic: bool = True
    ) -> Vector | None:
        """The vector of a message, if it comes in time; entries that have none yet are embedded beside the turn."""
        meaning = self.reading.meaning
        if meaning is None:
            return None
        self.wanted(self.reading)
        ask = partial(self.reading.wants_meaning, text, now, speaker, automatic=automatic)
        if not await self._beside(text, ask):
            return None
        found = None
        with anyio.move_on_after(self.settings.embedder.timeout):
            found = await to_thread.run_sync(meaning.question, text, abandon_on_cancel=True)
        # While this waited, others' questions may have laid the index to rest.
        await self._ready()
        return found

    def _snapshot(self, notes: Notes) -> Snapshot:
        return snapshot(notes, self.settings.snapshot.max_chars, self.settings.snapshot.max_tokens)


def _remembered(
    message: Message, kind: Kind, until: date | None, now: datetime
) -> tuple[Decision, str]:
    """The decision to keep a message word for word, and who said it as it may be written.

    Raises `NothingFound` where nothing of it may be kept.
    """
    # A door of its own: a stretch that somebody has open in the talk says nothing about this, nor this about the talk.
    clean = Intake().cleaned([message], now)
    if not clean or not clean[0].content.strip():
        raise NothingFound(
            "there is nothing left to remember once secrets and private stretches are taken out"
        )
    speaker = clean[0].speaker
    return remembered(clean[0].content, kind, now, speaker=speaker, until=until), speaker


def _note(left_out: int) -> str:
    return f"{NOTE} {left_out} more entries had no room." if left_out else NOTE
