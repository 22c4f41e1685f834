"""What people do with a channel's memory by hand: search it, list it, add to it, forget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from types import NoneType
from typing import Literal, TypeVar, get_args

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import (
    ArgumentError,
    NothingFound,
    PipimemError,
    require_count,
    require_one_of,
    require_type,
)
from pipimem.memory.remember import remembered
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message, Role
from pipimem.notes.notes import Change
from pipimem.notes.operations import Decision, Trust
from pipimem.recall.items import Item
from pipimem.runtime.change_history import ChannelHistory, OpenHistory
from pipimem.runtime.entry_list import ListedEntry, listed_entries
from pipimem.runtime.forget_preview import forget_targets, require_more_than_a_request
from pipimem.runtime.intake import Intake
from pipimem.runtime.lookup import note_hits
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import Filters, SearchHit, SearchService
from pipimem.runtime.usage_sums import UsageSum, usage_sum
from pipimem.store.channel import ChannelStore

T = TypeVar("T")
# What stands in the place of what may not be written.
_MARKS = re.compile(r"\[(?:private|secret: [a-z ]{1,30})\]")
Where = Literal["all", "notes", "log"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text to remember: the changes of MEMORY.md, or why it was `refused`.

    Neither where it stands there already.
    """

    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(slots=True, init=False, eq=False, repr=False)
class ChannelMemory:
    """The memory of one conversation, as people look at it and change it by hand."""

    _store: ChannelStore
    _jobs: ChannelJobs
    _clock: Clock
    _recall_service: RecallService
    # Called when the transcript has grown or was rewritten, and its index is to follow.
    _request_warming: Callable[[RecallService], None]
    _lock: anyio.Lock = field(default_factory=anyio.Lock, init=False)
    # The index of the transcript and the archive, made at the first search.
    _transcripts: SearchService | None = field(default=None, init=False)
    _searching: anyio.Lock = field(default_factory=anyio.Lock, init=False)
    # When a text was forgotten, and what does it once more.
    _forgettings: list[tuple[datetime, Callable[[], object]]] = field(
        default_factory=list, init=False
    )

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self._store.channel_id

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
        in a `role`. No memory is changed. The first search of a long transcript takes seconds.
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
        found: list[SearchHit] = []
        if where != "log":
            now = self._clock.now()
            found += await to_thread.run_sync(
                lambda: note_hits(self._recall_service, query, now, count, filters)
            )
        if where != "notes":
            found += await self._searched(
                lambda service: service.transcript_hits(self.id, query, count, filters)
            )
        return tuple(found)

    async def timeline(self, message: str, *, around: int = 2) -> tuple[Item, ...]:
        """What was said around the message of an id, in its own thread, oldest first.

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

    async def entries(
        self,
        *,
        kind: Kind | None = None,
        trust: Trust | None = None,
        older_than: timedelta | None = None,
    ) -> tuple[ListedEntry, ...]:
        """The entries of MEMORY.md in their order: of a kind, of a trust, older than that."""
        if kind is not None:
            require_one_of(kind, Kind, "kind")
        if trust is not None:
            require_one_of(trust, Trust, "trust")
        require_type(older_than, (timedelta, NoneType), "older_than", "Give a timedelta.")
        notes, now = await self._jobs.notes(), self._clock.now()
        return tuple(listed_entries(notes, now, kind, trust, older_than))

    @property
    def history(self) -> ChannelHistory:
        """Who changed the notes and why, and how that is taken back."""
        return OpenHistory(self._store, self._clock)

    async def usage(self, since: datetime | None = None) -> UsageSum:
        """What models were asked for this channel since a time, and what it cost."""
        return await to_thread.run_sync(self._usage, since)

    def _usage(self, since: datetime | None) -> UsageSum:
        calls = self._store.workspace.usages(since)
        return usage_sum([call for call in calls if call.channel == self.id])

    # ── changing it ───────────────────────────────────────────────────────────────────────────────

    async def remember(
        self, text: str, *, kind: Kind = Kind.FACT, speaker: str = "", until: date | None = None
    ) -> Remembered:
        """Add an entry with the text word for word, but without secrets.

        `until` is the last day on which it holds. Raises `NothingFound` for a text with nothing
        to keep.
        """
        require_type(text, str, "text")
        require_one_of(kind, Kind, "kind")
        require_type(until, (date, NoneType), "until", "Give the last day it holds.")
        now = self._clock.now()

        def decided() -> tuple[Decision, str]:
            message = rememberable(text, speaker, now)
            decision = remembered(
                message.content, Kind(kind), now, speaker=message.speaker, until=until
            )
            return decision, message.speaker

        decision, name = await to_thread.run_sync(decided)
        outcome = (await self._jobs.commit(decision, name or "person")).outcome
        refused = tuple(refusal.reason for refusal in outcome.refused)
        return Remembered(outcome.changes, refused)

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
        for each in (what,) if isinstance(what, str) else what:
            require_type(each, str, "what", "Give a text, or ids of entries.")
        if not (what or speaker or message):
            raise ArgumentError("There is nothing to forget: give a text, ids, speaker or message.")
        now, store = self._clock.wall(), self._store

        def forgotten() -> dict[str, int]:
            wanted = forget_targets(
                store, what, speaker=speaker, message=message, inside_words=inside_words
            )
            require_more_than_a_request(store, wanted, inside_words=inside_words)
            forgetting = partial(
                store.forget,
                wanted,
                keep_transcript=keep_transcript,
                now=now,
                actor="person",
                inside_words=inside_words,
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

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    async def _searched(self, ask: Callable[[SearchService], T]) -> T:
        """What the index of the transcript answers; one question at a time."""
        async with self._searching:
            if self._transcripts is None:
                self._transcripts = SearchService(self._store.workspace, archive=True)
            return await to_thread.run_sync(ask, self._transcripts)


def rememberable(text: str, speaker: str, now: datetime) -> Message:
    """A text to remember word for word, and who said it, as both may be written.

    Raises `NothingFound` where nothing of it may be kept.
    """
    if not text.strip():
        raise NothingFound("there is nothing to remember: the text is empty")
    # An Intake of its own: a private stretch that is open in the conversation does not reach here.
    clean = Intake().cleaned([Message.user(text, speaker=speaker)], now)
    if not clean or not _MARKS.sub("", clean[0].content).strip():
        raise NothingFound(
            "there is nothing left to remember once secrets and private stretches are taken out"
        )
    return clean[0]
