"""A channel: one conversation with its memory, as a host talks to it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from types import NoneType
from typing import Any, Literal

from pipimem.errors import (
    ArgumentError,
    PipimemError,
    described,
    require_count,
    require_time,
    require_type,
)
from pipimem.notes.message import Message, checked_messages
from pipimem.recall.items import with_copies
from pipimem.recall.recall import Recall
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.compaction import begin_epoch, consolidated_receipt, missing_messages
from pipimem.runtime.deprecated import with_old_names
from pipimem.runtime.history import ChannelHistory
from pipimem.runtime.intake import Intake
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.notes import ChannelNotes
from pipimem.runtime.recall_preview import RecallByHand, TurnPreview
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.talk import ChannelTalk, TalkIndex, TalkLog
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.runtime.tools.calls import ToolContext, ToolResult, called
from pipimem.runtime.tools.definitions import Language, Shape, definitions
from pipimem.runtime.transcript_recall import Seen, Visible
from pipimem.runtime.transcript_writer import TranscriptWriter
from pipimem.runtime.turn_recall import TurnRecall
from pipimem.runtime.turns import (
    Receipt,
    Turn,
    UnrecordedTurns,
    session_prompt,
    turn_of,
)
from pipimem.runtime.upkeep import ChannelUpkeep, JobRun
from pipimem.runtime.usage_sums import UsageSum, usage_sum
from pipimem.store.caches.channel_caches import TurnFigures

# The job, as the operator reads of it.
_RECALL = "recall"
# What hosts have in its place is a message of parts.
_TEXT_HINT = "Join the texts of its parts; a message without words is an empty one."


def no_op(_reading: RecallService) -> None:
    """Ignores a request: there is no embedder."""


def upkeep_of(channel: Channel) -> ChannelUpkeep:
    """Return what the runtime and its interfaces do with a channel beyond its host."""
    return channel._upkeep  # noqa: SLF001 - it is no part of the API


@with_old_names(notes=ChannelNotes, talk=ChannelTalk)
@dataclass(slots=True, eq=False, repr=False)
class Channel:
    """One conversation and its memory; `Pipimem.channel` makes it.

    `notes` are its entries and files, `history` has who changed them and takes it back, `talk` is
    what was said. `before_turn` and `before_compaction` never raise because memory is broken.
    """

    _access: ChannelAccess
    _jobs: ChannelJobs
    _recall_service: RecallService
    _background: Background
    _on_message: Callable[[], None]
    # Called when entries may have changed and are to be embedded.
    _request_embedding: Callable[[RecallService], None]
    # Held while somebody waits for the channel: its idle jobs are cancelled.
    _preempt: Callable[[], AbstractAsyncContextManager[None]]
    notes: ChannelNotes = field(init=False)
    history: ChannelHistory = field(init=False)
    talk: ChannelTalk = field(init=False)
    _shown: set[str] = field(default_factory=set, init=False)
    _fresh: bool = field(default=True, init=False)
    _unrecorded: UnrecordedTurns = field(default_factory=UnrecordedTurns, init=False)
    _turn_recall: TurnRecall = field(init=False)
    _writer: TranscriptWriter = field(init=False)
    _log: TalkLog = field(init=False)
    _upkeep: ChannelUpkeep = field(init=False)

    def __post_init__(self) -> None:
        access, service = self._access, self._recall_service
        intake = Intake(access.settings.private, access.store.key, access.settings.secrets)
        self._writer = TranscriptWriter(access.store, intake)
        self._log = TalkLog(access, self._writer, self._jobs.count_written)
        index = TalkIndex(access)
        self.notes = ChannelNotes(access)
        self.history = ChannelHistory(access)
        self.talk = ChannelTalk(access, service, self._log, index)
        self._turn_recall = TurnRecall(
            service,
            self._jobs,
            intake,
            access.settings,
            self._background,
            self._request_embedding,
        )
        self._upkeep = ChannelUpkeep(
            access,
            self._jobs,
            self._background,
            service,
            self._turn_recall,
            self._writer,
            index,
            access.clock.monotonic(),
        )

    def __repr__(self) -> str:
        return f"Channel({self.id!r}, {str(self._access.store.folder)!r})"

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self._access.id

    @property
    def kind(self) -> Literal["dm", "group"]:
        """Whether it is a direct message or a group."""
        return "dm" if self._access.store.channel_folder.identity.kind == "dm" else "group"

    @property
    def time_zone(self) -> tzinfo:
        """The zone in which times without one are meant."""
        return self._access.clock.now().tzinfo or UTC

    @property
    def keeps_context(self) -> bool:
        """Whether the host keeps each turn's blocks in the model's context until it compacts."""
        return self._access.settings.recall.keeps_context

    @property
    def is_off_the_record(self) -> bool:
        """Whether a turn off the record is under way: tools only search then."""
        return bool(self._unrecorded)

    async def session_prompt(self) -> str:
        """The system prompt's part, once a session: who the bot is, and where its memory lies.

        Raises `UnreadableNote` where SOUL.md or AGENTS.md is no text: who speaks without its rules
        is another bot.
        """
        return await run_in_thread(session_prompt, self._access.store)

    # ── a turn ────────────────────────────────────────────────────────────────────────────────────

    async def before_turn(
        self,
        text: str,
        *,
        speaker: str = "",
        visible: Visible | str = Visible.NEWEST,
        record: bool = True,
    ) -> Turn:
        """The context for a user message: what holds whatever is asked, and what it asks for.

        On a session's first turn the first of them is the whole snapshot. `visible` is the id of
        the oldest message that the model still sees: excerpts of the transcript are older than it.
        Without it the model is taken to see of this session the newest ten messages, with
        `Visible.NOTHING` none at all; of what was said before a start, a compaction or a reset it
        sees nothing.

        Without `record` the turn is off the record: neither this message nor those given to its
        `after_turn` are stored, now or by a later `before_compaction`; tools only search till then.

        Reads a few file stamps and writes nothing but the marks of an unrecorded message. It calls
        a model only where one may rerank ([recall] rerank), and waits 3 s for it at most. When
        memory itself is broken the context is empty and `problem` says why. Raises `ArgumentError`
        for a `text` that is no str.
        """
        _require_question(text, speaker)
        require_type(visible, (Visible, str), "visible", "Give a Visible or a message's id.")
        require_type(record, bool, "record")
        with self._access.observers.of("turn", self.id) as operation:
            turn = await self._turn(text, speaker, visible, record=record)
            operation.records = len(turn.shown)
            if turn.recall is None:
                operation.outcome = "silent"
        return turn

    async def _turn(self, text: str, speaker: str, visible: Visible | str, *, record: bool) -> Turn:
        now, began = self._access.clock.now(), time.perf_counter()
        message = Turn(text, speaker, now, first=self._fresh, record=record)
        self._unrecorded.begin(message)
        message = await self._turn_recall.read(message)
        try:
            if not record:
                await self._leave_out([Message.user(text, speaker=speaker)])
            return await self._recalled_turn(message, visible)
        except (PipimemError, OSError) as error:
            return replace(message, problem=described(error))
        except Exception as error:  # noqa: BLE001 - no bug of ours, nor of a library, ends a turn
            folder = self._access.store.folder.name
            fail = partial(self._background.failed, _RECALL, error, folder)
            return replace(message, problem=(await run_in_thread(fail)).why)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 3)
            if record:
                waited = TurnFigures(turns=1, waits=(milliseconds,))
                self._upkeep.figures = self._upkeep.figures.and_then(waited)

    async def _recalled_turn(self, message: Turn, visible: Visible | str) -> Turn:
        text, speaker, record = message.query, message.speaker, message.record
        with self._upkeep.use(self._access.clock.monotonic()):
            notes = await self._turn_recall.ready()
            await self._turn_recall.wait_for_transcript()
            shown = with_copies(self._shown if self.keeps_context else ())
            opening = await self._turn_recall.opening(message, notes, shown)
            shown = with_copies(opening.ids) | shown
            seen = Seen(visible, self.keeps_context, shown, opening.words)
            found = await self._turn_recall.recalled(
                text, message.time, speaker, shown=shown, seen=seen, record=record
            )
        if self._recall_service.transcript_recall.is_missing:
            self._access.transcript_changed()
        if record:
            found = await self._turn_recall.reranked(found, text, shown)
        message = replace(message, problem=self._turn_recall.unknown_id_problem())
        return turn_of(message, opening, found, notes)

    async def recall(
        self, text: str, *, speaker: str = "", limit: int | None = None, automatic: bool = True
    ) -> Recall:
        """What would be recalled for a message, with every score; nothing is marked as shown."""
        _require_question(text, speaker)
        if limit is not None:
            require_count(limit, "limit")
        with self._upkeep.use(self._access.clock.monotonic()):
            await self._turn_recall.ready()
            return await self._turn_recall.recalled(
                text, self._access.clock.now(), speaker, limit=limit, automatic=automatic
            )

    async def preview_turn(
        self, text: str, *, speaker: str = "", first: bool = True
    ) -> TurnPreview:
        """What a turn would show for a message and why, on a session's `first` turn or a later one.

        The model is taken to have seen nothing else. Nothing is stored, counted or marked as shown.
        """
        by_hand = RecallByHand(self._access, self._recall_service)
        return await by_hand.preview_turn(text, speaker=speaker, first=first)

    async def after_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        """Store the turn's messages, unless it is off the record; what it showed counts as shown.

        Raises `StoreError`; `ArgumentError`, before anything is stored, for what is no message.
        """
        require_type(turn, (Turn, type(None)), "turn", "Give what before_turn returned.")
        messages = checked_messages(messages)
        with self._access.observers.of("store_turn", self.id):
            if turn is not None and not turn.record:
                await self._leave_out(messages)
            else:
                await self._store_turn(turn, messages)
            if turn is not None:
                await self._access.repeat_forgettings(turn.time)
                self._unrecorded.end(turn)
                self._shown.update(turn.shown)
                self._fresh = False
            await self._jobs.record_seen_edits()
            self._upkeep.used = self._access.clock.monotonic()
            self._request_embedding(self._recall_service)
            self._access.transcript_changed()
            self._on_message()

    async def _store_turn(self, turn: Turn | None, messages: Sequence[Message]) -> None:
        if turn is not None:
            # Before the talk is written: cut off in between, the turn comes again and counts once.
            await self._turn_recall.count(turn)
        write = partial(self._writer.write_turn, began=turn.time if turn else None)
        async with self._access.lock:
            await self._log.append(messages, write)

    async def _leave_out(self, messages: Sequence[Message]) -> None:
        """Marks them; without the channel's lock, for a turn waits for no compaction."""
        now = self._access.clock.now()
        await finish_in_thread(self._writer.leave_out, messages, now)

    # ── a compaction ──────────────────────────────────────────────────────────────────────────────

    async def before_compaction(
        self, messages: Sequence[Message] = (), *, deadline: float | None = None
    ) -> Receipt:
        """Store and consolidate all messages before the host drops them, within `deadline` s.

        Messages the transcript lacks are taken in first. Then one question a window brings the
        three files up to date. An idle job is cancelled. Raises `ArgumentError` for no message.
        """
        _require_deadline(deadline)
        checked = checked_messages(messages)
        with self._access.observers.of("compaction", self.id) as operation:
            async with self._preempt():
                receipt = await self._before_compaction(checked, deadline)
            operation.outcome = receipt.state
        return receipt

    async def _before_compaction(
        self, messages: Sequence[Message], deadline: float | None
    ) -> Receipt:
        try:
            # What is missing stays so until it is written: nobody else writes in between.
            async with self._access.lock:
                missing = await missing_messages(self._jobs, self._writer, messages)
                await self._log.append(missing, self._writer.write_at_gate)
            covered = await run_in_thread(lambda: self._access.store.transcript.last_number)
        except (PipimemError, OSError) as error:
            return Receipt(False, "failed", 0, 0, described(error))
        timeout = self._access.settings.model.consolidate_gate_timeout
        receipt = await consolidated_receipt(
            self._jobs, covered, timeout if deadline is None else deadline
        )
        if receipt.state == "consolidated":
            self._log.has_new_messages = False
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
        await run_in_thread(self._writer.end_epoch)

    async def reset(self, *, deadline: float | None = None) -> Receipt:
        """The session ends: as before a compaction, then a new one begins."""
        receipt = await self.before_compaction(deadline=deadline)
        if receipt.may_compact:
            await self.compacted(receipt)
        return receipt

    async def close(self, *, deadline: float | None = None) -> Receipt | None:
        """Consolidate what was said since the last boundary, and sync the files."""
        receipt = None
        if self._log.has_new_messages:
            receipt = await self.before_compaction(deadline=deadline)
        await self._upkeep.close_files()
        return receipt

    # ── by hand ───────────────────────────────────────────────────────────────────────────────────

    async def maintain(
        self, *, forced: bool = False, dry_run: bool = False, only: Collection[str] = ()
    ) -> tuple[JobRun, ...]:
        """Run the idle jobs that are due, of the kinds `only` where it names some.

        `forced` skips pauses, `dry_run` asks models but commits nothing.
        """
        ran = await self._upkeep.maintain(forced=forced, dry_run=dry_run, only=only)
        return tuple(JobRun(job.task, job.ran, job.reason) for job in ran)

    async def usage(self, since: datetime | None = None) -> UsageSum:
        """What models were asked for this channel since a time, and what it cost."""
        require_time(since, "since")
        usages = self._access.store.workspace.usages
        return await run_in_thread(lambda: usage_sum(usages(since, self.id)))

    # ── tools for the bot's model ─────────────────────────────────────────────────────────────────

    def tools(self, shape: Shape = "openai", *, language: Language = "en") -> list[dict[str, Any]]:
        """The tools of this conversation's memory, as a provider's API takes them."""
        return definitions(shape, language)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> ToolResult:
        """Carry out a call that the model made of one of the `tools`; `text` is for its answer.

        `arguments` are an object, or the JSON text of one. What is wrong with them stands in the
        result. While a turn is off the record it may only search. Raises `StoreError` where the
        disk refuses.
        """
        require_type(name, str, "name")
        context = ToolContext(self.notes, self.talk, self.time_zone, self.is_off_the_record)
        return await called(context, name, arguments)


def _require_question(text: object, speaker: object) -> None:
    """Raises `ArgumentError` unless both are texts."""
    require_type(text, str, "text", _TEXT_HINT)
    require_type(speaker, str, "speaker", "Without a name it is empty.")


def _require_deadline(seconds: object) -> None:
    """Raises `ArgumentError` unless it is a number of seconds, or `None`."""
    require_type(seconds, (int, float, NoneType), "deadline", "Give seconds.")
    if isinstance(seconds, float) and math.isnan(seconds):
        raise ArgumentError("deadline must be a number of seconds, not NaN.")
