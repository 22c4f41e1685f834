"""What people do with a channel's memory by hand: search it, list it, add to it, forget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import partial
from types import NoneType
from typing import Any, Literal, TypeVar, get_args

import anyio
from anyio import to_thread

from pipimem.errors import (
    PipimemError,
    require_count,
    require_one_of,
    require_type,
)
from pipimem.notes.message import Role
from pipimem.recall.items import Item, sources_of
from pipimem.runtime.call_arguments import require_targets, require_time
from pipimem.runtime.channel_entries import ChannelEntries
from pipimem.runtime.channel_history import ChannelHistory, OpenHistory
from pipimem.runtime.channel_lock import ChannelLock
from pipimem.runtime.forget_preview import forget_targets
from pipimem.runtime.note_files import NoteFiles, OpenFiles
from pipimem.runtime.on_disk import ChannelOnDisk
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.retraction import emptied
from pipimem.runtime.search_service import (
    Filters,
    SearchHit,
    SearchService,
    counted_once,
    note_hits,
)
from pipimem.runtime.tools.calls import ToolResult, called
from pipimem.runtime.tools.definitions import Language, Shape, definitions
from pipimem.runtime.transcript_pages import OpenTranscript, TranscriptPages
from pipimem.runtime.turn_preview import TurnPreview, turn_preview
from pipimem.runtime.turns import Turn, UnrecordedTurns
from pipimem.runtime.usage_sums import UsageSum, usage_of_channel

T = TypeVar("T")
Where = Literal["all", "notes", "log"]


@dataclass(slots=True, init=False, eq=False, repr=False)
class ChannelMemory(ChannelEntries):
    """The memory of one conversation, as people look at it and change it by hand."""

    _recall_service: RecallService
    # Called when the transcript has grown or was rewritten, and its index is to follow.
    _request_warming: Callable[[RecallService], None]
    _lock: ChannelLock = field(default_factory=ChannelLock, init=False)
    # The index of the transcript and the archive, made at the first search.
    _transcripts: SearchService | None = field(default=None, init=False)
    _searching: ChannelLock = field(default_factory=ChannelLock, init=False)
    _files: NoteFiles | None = field(default=None, init=False)
    _unrecorded: UnrecordedTurns = field(default_factory=UnrecordedTurns, init=False)
    # When a text was forgotten, and what does it once more.
    _forgettings: list[tuple[datetime, Callable[[], object]]] = field(
        default_factory=list, init=False
    )

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self._store.channel_id

    @property
    def is_off_the_record(self) -> bool:
        """Whether a turn off the record is under way: tools only search then."""
        return bool(self._unrecorded)

    # ── looking for something ─────────────────────────────────────────────────────────────────────

    async def search(
        self,
        query: str,
        *,
        count: int = 10,
        where: Where = "all",
        after: datetime | None = None,
        before: datetime | None = None,
        speaker: str = "",
        role: Role | None = None,
    ) -> tuple[SearchHit, ...]:
        """What the notes, then what the transcript and the archive have to say, all time.

        At most `count` of each, best first, from `after` on and before `before`, said by `speaker`
        in a `role`. A message that a note quotes whole is `also` of that note. No memory
        is changed. The first search of a long transcript takes seconds.
        """
        require_type(query, str, "query", "Give some words to look for.")
        require_one_of(where, get_args(Where), "where")
        require_count(count, "count")
        for name, time in (("after", after), ("before", before)):
            require_type(time, (datetime, NoneType), name, "Without a bound it is None.")
        require_type(speaker, str, "speaker", "For everybody it is empty.")
        if role is not None:
            require_one_of(role, get_args(Role), "role")
        filters = Filters(after, before, speaker.strip(), role or "")
        notes: list[SearchHit] = []
        said: list[SearchHit] = []
        if where != "log":
            notes = await to_thread.run_sync(self._note_hits, query, count, filters)
        if where != "notes":
            said = await self._searched(
                lambda service: service.transcript_hits(self.id, query, count, filters)
            )
        return tuple(counted_once(notes, said))

    def _note_hits(self, query: str, count: int, filters: Filters) -> list[SearchHit]:
        self._recall_service.notes()
        recalled = partial(self._recall_service.recalled, query, self._clock.now(), automatic=False)
        return note_hits(lambda most: recalled(limit=most), count, filters)

    async def timeline(self, message: str, *, around: int = 2) -> tuple[Item, ...]:
        """What was said around the message of an id, its own thread first, oldest first.

        Raises `NothingFound` where there is no such message.
        """
        require_type(message, str, "message", "Give the id of a message.")
        require_count(around, "around", least=0)
        return await self._searched(lambda service: service.timeline(self.id, message, around))

    async def detail(self, *messages: str) -> tuple[Item, ...]:
        """Whole messages by their ids; one that was forgotten has an empty text.

        Raises `NothingFound` where there is no such message.
        """
        for message in messages:
            require_type(message, str, "messages", "Give ids of messages.")
        return await self._searched(lambda service: service.details(self.id, messages))

    async def sources(self, *items: Item) -> tuple[tuple[str, ...], ...]:
        """For each item that was found the ids of the messages that it rests on."""
        records = (await self._jobs.notes()).ledger.records
        return tuple(sources_of([item], records) for item in items)

    @property
    def history(self) -> ChannelHistory:
        """Who changed the notes and why, and how that is taken back."""
        return OpenHistory(ChannelOnDisk(self._store), self._clock)

    @property
    def files(self) -> NoteFiles:
        """The three files as a person reads and edits them."""
        if self._files is None:
            self._files = OpenFiles(self._store, self._jobs.settings, self._clock)
        return self._files

    @property
    def transcript(self) -> TranscriptPages:
        """What was said, page by page."""
        return OpenTranscript(self._store, self.files.shown)

    async def preview(self, text: str, *, speaker: str = "", first: bool = True) -> TurnPreview:
        """What a turn would show for a message and why, on a session's `first` turn or a later one.

        The model is taken to have seen nothing else. Nothing is stored, counted or marked as shown.
        """
        require_type(text, str, "text", "Give the message as text.")
        require_type(speaker, str, "speaker", "Without a name it is empty.")
        message = Turn(text, speaker, self._clock.now(), first=first)
        return await to_thread.run_sync(turn_preview, self._recall_service, message)

    async def usage(self, since: datetime | None = None) -> UsageSum:
        """What models were asked for this channel since a time, and what it cost."""
        require_time(since, "since")
        calls = self._store.workspace.usages(since)  # read as they are added up
        return await to_thread.run_sync(usage_of_channel, calls, self.id)

    # ── changing it ───────────────────────────────────────────────────────────────────────────────

    async def forget(
        self,
        what: str | Sequence[str] = (),
        *,
        speaker: str = "",
        message: str = "",
        keep_transcript: bool = False,
        inside_words: bool = False,
    ) -> dict[str, int]:
        """Remove a text, or entries by id, from all files; returns counts by place.

        With `speaker` all that this person said goes, and what was learnt from it alone, with a
        text besides only what they said with this text; with `message`, or an id of one in `what`
        as `search` gives it, the message and what was learnt from it alone, as where the platform
        took it back. `Tom` is not taken for a part of `tomorrow`, unless `inside_words`. Raises
        `NothingFound` for an id of nothing, and with nothing forgotten where a text stands in
        nothing but a request to forget it; `ArgumentError` for a text and a message.
        """
        require_targets(what, speaker, message)
        now, store = self._clock.wall(), self._store

        def forgotten() -> dict[str, int]:
            wanted = forget_targets(
                store, what, speaker=speaker, message=message, inside_words=inside_words
            )
            forgetting = partial(
                store.forget,
                wanted,
                keep_transcript=keep_transcript,
                now=now,
                actor="person",
                inside_words=inside_words,
                with_learnt=True,
            )
            counts = forgetting().counts
            if isinstance(wanted, str):
                self._forgettings.append((now, forgetting))
            return counts

        async with self._lock:
            with anyio.CancelScope(shield=True):
                counts = await to_thread.run_sync(forgotten)
                # Recall lets go of its old index now, and not of the new one at the next turn.
                with suppress(PipimemError, OSError):
                    await to_thread.run_sync(self._recall_service.notes)
        self._request_warming(self._recall_service)
        return counts

    async def retract(self, message: str) -> bool:
        """Empty a message that its sender took back on the platform; whether it is a forgetting.

        Where nothing was learnt from it only the transcript changes, and undo goes on as before.
        Else it is `forget(message=…)`. Raises `NothingFound` for an id of no message.
        """
        require_type(message, str, "message", "Give the id of a message.")
        now, store = self._clock.wall(), self._store
        async with self._lock:
            with anyio.CancelScope(shield=True):
                has_emptied = await to_thread.run_sync(emptied, store, message, now)
        if has_emptied:
            self._request_warming(self._recall_service)
        else:
            await self.forget(message=message)
        return not has_emptied

    async def _forget_again(self, since: datetime) -> None:
        """Do anew what texts were forgotten since a turn began: the turn's own messages, which were
        stored later, say them again.
        """
        async with self._lock:
            for when, forgetting in self._forgettings:
                if when >= since:
                    with anyio.CancelScope(shield=True):
                        await to_thread.run_sync(forgetting)
            # Only now: where one fails, after_turn called again for this turn does it.
            self._forgettings.clear()

    # ── tools for the bot's model ─────────────────────────────────────────────────────────────────

    @property
    def time_zone(self) -> tzinfo:
        """The zone in which times without one are meant."""
        return self._clock.now().tzinfo or UTC

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
        return await called(self, name, arguments)

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    async def _searched(self, ask: Callable[[SearchService], T]) -> T:
        """What the index of the transcript answers; one question at a time."""
        async with self._searching:
            if self._transcripts is None:
                own = self._jobs.settings.secrets
                self._transcripts = SearchService(self._store.workspace, archive=True, own=own)
            return await to_thread.run_sync(ask, self._transcripts)
