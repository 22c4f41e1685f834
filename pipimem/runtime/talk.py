"""The talk of a channel: messages appended, searched, read page by page, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import NoneType
from typing import Literal, TypeVar, get_args

from pipimem.errors import require_count, require_one_of, require_type
from pipimem.notes.message import Message, Role, checked_messages
from pipimem.recall.items import Item, sources_of
from pipimem.recall.transcript.hits import Filters
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.forgetting import Forgetter
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import (
    SearchAnswer,
    SearchHit,
    SearchService,
    TalkExtent,
    counted_once,
    note_hits,
)
from pipimem.runtime.stored_files import StoredFiles
from pipimem.runtime.threads import ChannelLock, finish_in_thread, run_in_thread
from pipimem.runtime.transcript_recall import Report, no_progress
from pipimem.runtime.transcript_writer import TranscriptWriter, Write

T = TypeVar("T")
Where = Literal["all", "notes", "log"]

# So many messages are read at once, and for one page of some of them: half a second at most.
_READ_AT_ONCE = 500
_MOST_READ = 20_000


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Messages in the order they were said, as they may be shown; a forgotten one has no text.

    `earlier` and `later` are what to ask for the pages beside it, `None` at the ends.
    """

    messages: tuple[Message, ...]
    earlier: int | None
    later: int | None


@dataclass(slots=True, eq=False)
class TalkLog:
    """Appends to the transcript; `count` is called with the messages that were new."""

    access: ChannelAccess
    writer: TranscriptWriter
    count: Callable[[Sequence[Message]], None]
    has_new_messages: bool = False

    async def append(self, messages: Sequence[Message], write: Write) -> tuple[Message, ...]:
        """Call `write` in a thread; the caller holds the channel's lock."""
        if not messages:
            return ()
        written = await finish_in_thread(write, messages, self.access.clock.now())
        self.has_new_messages = self.has_new_messages or bool(written)
        self.count(written)
        return written


@dataclass(slots=True, eq=False)
class TalkIndex:
    """The index of one channel's transcript and archive for searches, made at the first.

    Where much is to be read first, `report` is told how far that is.
    """

    access: ChannelAccess
    archive: bool = True
    report: Report = no_progress
    _service: SearchService | None = None
    _searching: ChannelLock = field(init=False)

    def __post_init__(self) -> None:
        self._searching = ChannelLock()

    @property
    def is_loaded(self) -> bool:
        """Whether it is held in memory."""
        return self._service is not None

    async def unload(self) -> None:
        """Free it; the next search reads it again."""
        async with self._searching:
            self._service = None

    async def keep(self) -> None:
        """Write it for the next start, where that saves it time."""
        async with self._searching:
            if self._service is not None:
                await run_in_thread(self._service.keep)

    async def ask(self, question: Callable[[SearchService], T]) -> T:
        """Return what the index answers; one question at a time."""
        async with self._searching:
            if self._service is None:
                workspace, own = self.access.store.workspace, self.access.settings.secrets
                self._service = SearchService(
                    workspace,
                    archive=self.archive,
                    report=self.report,
                    own=own,
                    clock=self.access.clock,
                )
            return await run_in_thread(question, self._service)


@dataclass(slots=True, eq=False, repr=False)
class ChannelTalk:
    """What was said in one conversation."""

    _access: ChannelAccess
    _recall_service: RecallService
    _log: TalkLog
    _index: TalkIndex

    # ── appending ─────────────────────────────────────────────────────────────────────────────────

    async def append(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Append messages, cleaned and synced; those with known ids are skipped."""
        checked = checked_messages(messages)
        async with self._access.lock:
            return await self._log.append(checked, self._log.writer.write)

    # ── searching ─────────────────────────────────────────────────────────────────────────────────

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
        filters = _filters(query, count, where, after, before, speaker, role)
        with self._access.observers.of("search", self._access.id) as operation:
            notes = await self._note_hits(query, count, where, filters)
            said: list[SearchHit] = []
            if where != "notes":
                name = self._access.id
                said = await self._index.ask(
                    lambda service: service.transcript_hits(name, query, count, filters)
                )
            found = tuple(counted_once(notes, said))
            operation.records = len(found)
        return found

    async def answer(
        self,
        query: str,
        *,
        count: int = 10,
        where: Where = "all",
        after: datetime | None = None,
        before: datetime | None = None,
        speaker: str = "",
        role: Role | None = None,
    ) -> SearchAnswer:
        """What `search` finds, notes and messages apart, and whether the first message is clear.

        A message that a note quotes whole is in both.
        """
        filters = _filters(query, count, where, after, before, speaker, role)
        name = self._access.id
        with self._access.observers.of("search", name) as operation:
            notes = await self._note_hits(query, count, where, filters)
            said: list[SearchHit] = []
            around: tuple[Item, ...] = ()
            if where != "notes":
                said, around = await self._index.ask(
                    lambda service: service.hits_with_thread(name, query, count, filters)
                )
            has_words = await self._index.ask(lambda service: service.may_find(query))
            operation.records = len(notes) + len(said)
        return SearchAnswer(tuple(notes), tuple(said), around, has_words)

    async def ranked(
        self,
        query: str,
        *,
        count: int = 10,
        after: datetime | None = None,
        before: datetime | None = None,
        speaker: str = "",
        role: Role | None = None,
    ) -> tuple[SearchHit, ...]:
        """The `count` best messages by their scores alone, copies too; they have no excerpts."""
        filters = _filters(query, count, "log", after, before, speaker, role)
        name = self._access.id
        return await self._index.ask(lambda service: service.ranked(name, query, count, filters))

    async def extent(self) -> TalkExtent:
        """Who spoke here, and the first and the last day on which anything was said."""
        return await self._index.ask(lambda service: service.extent(self._access.id))

    async def _note_hits(
        self, query: str, count: int, where: Where, filters: Filters
    ) -> list[SearchHit]:
        if where == "log":
            return []
        return await run_in_thread(self._hits_in_notes, query, count, filters)

    def _hits_in_notes(self, query: str, count: int, filters: Filters) -> list[SearchHit]:
        self._recall_service.notes()
        recalled = partial(
            self._recall_service.recalled, query, self._access.clock.now(), automatic=False
        )
        return note_hits(lambda most: recalled(limit=most), count, filters)

    async def timeline(self, message: str, *, around: int = 2) -> tuple[Item, ...]:
        """What was said around the message of an id, its own thread first, oldest first.

        Raises `NothingFound` where there is no such message.
        """
        require_type(message, str, "message", "Give the id of a message.")
        require_count(around, "around", least=0)
        return await self._index.ask(
            lambda service: service.timeline(self._access.id, message, around)
        )

    async def detail(self, *messages: str) -> tuple[Item, ...]:
        """Whole messages by their ids; one that was forgotten has an empty text.

        Raises `NothingFound` where there is no such message.
        """
        for message in messages:
            require_type(message, str, "messages", "Give ids of messages.")
        return await self._index.ask(lambda service: service.details(self._access.id, messages))

    async def sources(self, *items: Item) -> tuple[tuple[str, ...], ...]:
        """For each item that was found the ids of the messages that it rests on."""
        records = (await self._access.read_notes()).ledger.records
        return tuple(sources_of([item], records) for item in items)

    async def messages(
        self, count: int | None = None, *, session: str | None = None
    ) -> tuple[Message, ...]:
        """The newest `count` messages as they are stored, or all, oldest first; of a `session`.

        They have all that they hide, and a forgotten one has no text. `page` is for showing them.
        """
        return await StoredFiles(self._access).messages(count, session=session)

    # ── page by page: a long transcript is never read whole ───────────────────────────────────────

    async def page(
        self,
        upto: int | None = None,
        *,
        count: int = 100,
        speaker: str = "",
        role: Role | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> TranscriptPage:
        """The `count` messages up to a number, that one included; the newest without it.

        Or those of a `speaker`, in a `role`, from `after` on and before `before` among them: such a
        page looks through 20,000 messages at most, may be empty, and has no `later`.
        """
        require_count(count, "count")
        if upto is not None:
            require_count(upto, "upto")
        filters = Filters(after, before, speaker, role or "")
        return await run_in_thread(self._page, upto, count, filters)

    def _page(self, upto: int | None, count: int, filters: Filters) -> TranscriptPage:
        transcript = self._access.store.transcript
        newest = transcript.last_number
        last = newest if upto is None else min(upto, newest)
        if filters != Filters():
            return self._filtered(last, count, filters)
        after = max(0, last - count)
        messages = tuple(map(self._masked, transcript.window(after, last)))
        earlier = after if after > 0 else None
        later = min(last + count, newest) if last < newest else None
        return TranscriptPage(messages, earlier, later)

    def _filtered(self, last: int, count: int, filters: Filters) -> TranscriptPage:
        found: list[Message] = []
        end = last
        while end > 0 and len(found) < count and last - end < _MOST_READ:
            after = max(0, end - _READ_AT_ONCE)
            window = self._access.store.transcript.window(after, end)
            found = [*filter(filters.admits_message, window), *found]
            end = after
        if len(found) > count:
            found = found[-count:]
            end = found[0].number - 1
        return TranscriptPage(tuple(map(self._masked, found)), end or None, None)

    def _masked(self, message: Message) -> Message:
        return replace(
            message,
            content=self._access.shown(message.content),
            speaker=self._access.shown(message.speaker),
        )

    # ── taking back ───────────────────────────────────────────────────────────────────────────────

    async def retract(self, message: str) -> bool:
        """Empty a message that its sender took back on the platform; whether it is a forgetting.

        Where nothing was learnt from it only the transcript changes, and undo goes on as before.
        Else it is `forget(ById(message))`. Raises `NothingFound` for an id of no message.
        """
        require_type(message, str, "message", "Give the id of a message.")
        return await Forgetter(self._access).retract(message)


def _filters(
    query: object,
    count: object,
    where: object,
    after: datetime | None,
    before: datetime | None,
    speaker: str,
    role: Role | None,
) -> Filters:
    """Return what a search is narrowed to. Raises `ArgumentError` for an argument of its own."""
    require_type(query, str, "query", "Give some words to look for.")
    require_one_of(where, get_args(Where), "where")
    require_count(count, "count")
    for name, time in (("after", after), ("before", before)):
        require_type(time, (datetime, NoneType), name, "Without a bound it is None.")
    require_type(speaker, str, "speaker", "For everybody it is empty.")
    if role is not None:
        require_one_of(role, get_args(Role), "role")
    return Filters(after, before, speaker.strip(), role or "")
