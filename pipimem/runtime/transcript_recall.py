"""Excerpts of a channel's transcript for its turns, from an index that is built beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from itertools import islice
from types import MappingProxyType

from msgspec import Struct, structs

from pipimem.errors import NothingFound, PipimemError, StoreError
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.recall.budget import BlockBudget, Limits
from pipimem.recall.items import Item, Source, history_items, message_item
from pipimem.recall.query import Query
from pipimem.recall.recall import Recall
from pipimem.recall.transcript.excerpts import ExcerptLimits, excerpts
from pipimem.recall.transcript.transcript_index import (
    TranscriptIndex,
    TranscriptState,
    packed,
    unpacked,
)
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import stamp as file_stamp
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader
from pipimem.text.quotes import words_said

# Called with the number of the message that was read last, and of the newest; they are equal at the
# end.
Report = Callable[[int, int], None]
_REPORT_EVERY = 100
# Bytes of a transcript, some 200 messages: cutting them takes 30 ms, or in Chinese a tenth of a
# second. Below, the next start cuts them again.
_WORTH_KEEPING = 40_000

# How ids of entries begin: recall gives them, but nobody said them.
_ENTRIES = tuple(f"{source}:" for source in (Source.SESSION, Source.MEMORY, Source.HISTORY))


def no_progress(_read: int, _newest: int) -> None:
    """Ignores progress."""


class TranscriptSearch:
    """One channel's transcript index, and optionally its archive.

    It goes on from the index that was kept by the last one, where that still fits. `report` is told
    how far the reading is.
    """

    def __init__(
        self,
        store: ChannelStore,
        vocabulary: Vocabulary,
        *,
        archive: bool = False,
        most: int | None = None,
        report: Report = no_progress,
    ) -> None:
        self.store, self._stamp = store, vocabulary.stamp()
        self._reader, known = _cached(store, self._stamp)
        self.index = TranscriptIndex(vocabulary.words, self.item, known)
        self._is_current, indexed = known is not None, self._reader.size
        self.update(most, report)
        # Before the archive comes to it: that grows at its own pace, and is cut each time.
        self._to_keep: tuple[ReadPosition, bytes] | None = None
        if self._reader.size - indexed >= _WORTH_KEEPING:
            self._to_keep = self._reader.read_position(), packed(self.index.state())
        self._first = len(self.index)
        # The stamp first: what is added while it is read is found out at the next question.
        self._archive = file_stamp(store.folder / File.ARCHIVE) if archive else None
        self._with_archive = archive
        self._old = _archive_items(store) if archive else ()
        self.index.add_separately(self._old)

    @property
    def is_stale(self) -> bool:
        """Whether the transcript was rewritten or the archive changed: build a new one."""
        found = file_stamp(self.store.folder / File.ARCHIVE) if self._with_archive else None
        return self._reader.rewritten or found != self._archive

    @property
    def last_number(self) -> int:
        """The number of the newest message in the index; 0 where it holds none."""
        return self._reader.message(len(self._reader) - 1).number if len(self._reader) else 0

    def update(self, most: int | None = None, report: Report = no_progress) -> None:
        """Take in what was said since, `most` messages of it."""
        message = None
        for message in islice(self._reader.fresh(), most):
            self.index.add((message_item(message),))
            if message.number % _REPORT_EVERY == 0:
                report(message.number, self.store.transcript.last_number)
        if message is not None:
            report(message.number, message.number)

    def keep(self) -> None:
        """Write the index for the next start; a stale one on disk is removed.

        It is no loss where it cannot be kept: the next start takes longer, that is all.
        """
        with suppress(PipimemError, OSError):
            if self._to_keep is not None:
                self.store.caches.keep_search(self._stamp, *self._to_keep)
            elif not self._is_current:
                self.store.caches.drop_search()
        self._to_keep, self._is_current = None, True

    @property
    def archive(self) -> range:
        """The slots of the archive's bullets."""
        return range(self._first, self._first + len(self._old))

    def item(self, slot: int) -> Item:
        """The bullet or message of a slot."""
        place = slot - self._first
        if place < 0:
            return message_item(self._reader.message(slot))
        if place < len(self._old):
            return self._old[place]
        return message_item(self._reader.message(slot - len(self._old)))

    def slot(self, name: str) -> int:
        """Where the message or bullet of an id stands. Raises `NothingFound`."""
        for slot, item in enumerate(self._old, self._first):
            if item.id == name:
                return slot
        place = self._reader.place(name)
        if place is None:  # as the fence names a message of the backlog
            place = self._reader.place(name.removeprefix(f"{Source.LOG}:"))
        if place is None:
            message = f"There is no message {name!r} here; `pipimem search` gives the ids."
            if name.startswith(_ENTRIES):
                message = (
                    f"{name!r} is an entry, not a message; "
                    "`pipimem blame` says from which messages an entry came."
                )
            raise NothingFound(message)
        return place if place < self._first else len(self._old) + place


def update_search_cache(
    store: ChannelStore, vocabulary: Vocabulary, most: int | None = None
) -> None:
    """Update the cached index of a channel by `most` messages; skips small changes."""
    if store.caches.search_lag(vocabulary.stamp()) >= _WORTH_KEEPING:
        TranscriptSearch(store, vocabulary, most=most).keep()


def _cached(store: ChannelStore, stamp: str) -> tuple[TranscriptReader, TranscriptState | None]:
    """The cached index with its reader, or a reader from the start and `None`."""
    cached = store.caches.kept_search(stamp)
    if cached is not None:
        with suppress(ValueError):  # whole, and yet none of ours
            return cached[0], unpacked(cached[1])
    return TranscriptReader(store.transcript), None


def _archive_items(store: ChannelStore) -> tuple[Item, ...]:
    items = history_items(store.archive())
    return tuple(replace(item, id=item.id.replace("history:", "archive:", 1)) for item in items)


# What a host that rebuilds its prompt usually still shows the model of the conversation.
STILL_SEEN = 10
# A message that the host names is looked for among so many of the newest; each is a read.
_LOOKED_BACK = 200
# A message that comes in while somebody asks takes less than this.
_PATIENCE_SECONDS = 0.02
# Bytes of a transcript of short messages or of Chinese; one of long English ones goes faster.
_INDEXED_A_SECOND = 400_000
# A message in the index takes about a twentieth of the memory of an entry.
_MESSAGES_AN_ENTRY = 20


class Visible(Enum):
    """What of the conversation the model still sees, where no id of a message says so.

    `NEWEST` are the newest ten messages of this session; of what was said before it sees nothing.
    """

    NEWEST = "newest"
    NOTHING = "nothing"


class Seen(Struct, frozen=True):
    """What of the conversation the model still sees, so that no excerpt repeats it.

    All from the message with the id `since` on, or as a `Visible` says: the newest are all of the
    current epoch where the host `keeps_context`.
    `shown` are the ids of what it was shown, `words` what was said in that.
    """

    since: Visible | str = Visible.NEWEST
    keeps_context: bool = False
    shown: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(slots=True)
class TranscriptRecall:
    """One channel's transcript index, kept up by `warm` in a thread; a turn only asks it."""

    store: ChannelStore
    vocabulary: Vocabulary
    _search: TranscriptSearch | None = None
    # The newest message of before this session: whoever speaks now sees none of them any more.
    _session_start: int = field(init=False)
    _unknown_id: str = ""
    _is_reported: bool = False
    # The notes as last seen, and what people made of entries in them.
    _reworded_in: tuple[Notes | None, Mapping[str, str]] = (None, MappingProxyType({}))
    # The index in which the oldest message that the model sees was found last, and its slot there.
    _seen_in: tuple[TranscriptSearch | None, int] = (None, 0)
    _is_warming: threading.Event = field(default_factory=threading.Event)
    _is_warm: threading.Event = field(default_factory=threading.Event)
    # One thread at a time builds; whoever reads or adds holds the other.
    _building: threading.Lock = field(default_factory=threading.Lock)
    _using: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._session_start = self.store.transcript.last_number

    def begin_session(self, covered: int) -> None:
        """The host dropped all messages up to the number `covered`."""
        self._session_start, self._is_reported = max(covered, self._session_start), False

    def unknown_id(self) -> str:
        """The `since` of a question that no message has; once a session, else empty."""
        found, self._unknown_id = self._unknown_id, ""
        if not found or self._is_reported:
            return ""
        self._is_reported = True
        return found

    def size(self) -> int:
        """The memory that the index takes, as a number of entries."""
        search = self._search
        return len(search.index) // _MESSAGES_AN_ENTRY if search else 0

    @property
    def is_missing(self) -> bool:
        """Whether there is something to index but no index: another process forgot."""
        return self._search is None and self.store.transcript.last_number > 0

    def drop(self) -> None:
        """Lets go of the index: memory is short, or the transcript was rewritten."""
        self._search = None
        self._is_warm.clear()

    def expect(self) -> None:
        """Note that `warm` is about to be called in another thread."""
        self._is_warming.set()

    def wait(self, seconds: float) -> None:
        """Waits until an index that is being built is there, for so long at most.

        Not where that would not be long enough.
        """
        if self._is_warming.is_set() and self._lag() <= _INDEXED_A_SECOND * seconds:
            self._is_warm.wait(seconds)

    def _lag(self) -> int:
        """About how many bytes of the transcript the index that is kept lacks."""
        try:
            return self.store.caches.search_lag(self.vocabulary.stamp())
        except OSError:  # the building finds out, and says so
            return 0

    def warm(self) -> None:
        """Builds the index, or takes in what was said since."""
        try:
            with self._building:
                self._build()
        finally:
            self._is_warming.clear()
            self._is_warm.set()

    def _build(self) -> None:
        search = self._search
        if search is None or search.is_stale:
            if self.store.transcript.last_number:
                self.vocabulary.synonyms()  # the words of words.txt decide how texts are cut
                search = TranscriptSearch(self.store, self.vocabulary)
                search.index.spelling()  # here, or the first misspelt question would wait for it
                self._search = search
            return
        with self._using:
            search.update()

    def keep(self) -> None:
        """Writes the index for the next start, where much of it was built anew."""
        search = self._search
        if search is not None:
            with self._building:
                search.keep()

    def excerpts(
        self,
        query: Query,
        found: Recall,
        notes: Notes,
        limits: Limits,
        now: datetime,
        seen: Seen,
    ) -> tuple[Item, ...]:
        """What was said about what is asked, beside the entries; nothing while no index is built.

        An entry that holds every word of the question need not answer it, so none keeps them away.
        What a person reworded in the `notes` beats what was said.
        """
        search = self._search
        if search is None or query.silent:
            return ()
        if not self._using.acquire(timeout=_PATIENCE_SECONDS):
            return ()
        try:
            learnt = notes.ledger.cursor - _slots_after(search)
            before = self._first_seen(search, notes.ledger, seen)
            room = _room(found, limits, before, learnt, seen)
            room = structs.replace(room, reworded=self._reworded(notes))
            synonyms = self.vocabulary.synonyms()
            return excerpts(search.index, query, room, now=now, synonyms=synonyms)
        except StoreError:  # rewritten meanwhile: `warm` builds another one
            self.drop()
            return ()
        finally:
            self._using.release()

    def look_for_rewordings(self, notes: Notes) -> None:
        """Finds out what people made of entries in these notes; call in a thread."""
        self._reworded_in = notes, _rewordings(notes)

    def _reworded(self, notes: Notes) -> Mapping[str, str]:
        """What a person made of an entry, by the items of the messages that it was learnt from."""
        if self._reworded_in[0] is not notes:
            self.look_for_rewordings(notes)
        return self._reworded_in[1]

    def _first_seen(self, search: TranscriptSearch, ledger: Ledger, seen: Seen) -> int:
        """The slot of the first message that the model still sees."""
        count = len(search.index)
        if not count:
            return 0
        if seen.since is Visible.NOTHING:
            return count
        indexed = search.last_number
        if isinstance(seen.since, str) and seen.since:
            slot = self._slot_of(search, seen.since, indexed)
            if slot is not None:
                return slot
            self._unknown_id = seen.since
        oldest = self.store.transcript.last_number - STILL_SEEN
        if seen.keeps_context:
            oldest = ledger.epoch_start
        return max(oldest, self._session_start) - _slots_after(search)

    def _slot_of(self, search: TranscriptSearch, since: str, indexed: int) -> int | None:
        """Where the message of an id stands among the newest, behind all if it is not indexed."""
        count, name = len(search.index), f"{Source.LOG}:{since}"
        known, slot = self._seen_in
        if known is search and slot < count and search.item(slot).id == name:
            return slot  # the same as last time: to look back costs a read of each message
        for slot in range(count - 1, max(-1, count - 1 - _LOOKED_BACK), -1):
            if search.item(slot).id == name:
                self._seen_in = search, slot
                return slot
        waiting = self.store.transcript.window(indexed)
        return count if any(message.id == since for message in waiting) else None


def _rewordings(notes: Notes) -> Mapping[str, str]:
    """What a person made of an entry, by the items of the messages that it was learnt from."""
    found: dict[str, str] = {}
    for entry in notes.memory.entries:
        record = notes.record(entry.record_name)
        if record is not None and record.trust is Trust.HUMAN:
            items = (f"{Source.LOG}:{source}" for source in record.sources)
            found.update(dict.fromkeys(items, entry.text))
    return found


def _slots_after(search: TranscriptSearch) -> int:
    """How far numbers are ahead of slots: they go on where older files were taken away."""
    return search.last_number - len(search.index)


def _room(found: Recall, limits: Limits, before: int, learnt: int, seen: Seen) -> ExcerptLimits:
    budget = BlockBudget(limits.max_chars, limits.max_tokens)
    budget.take(found.injected)
    known = frozenset(words_said(item.text).casefold() for item in found.injected)
    return ExcerptLimits(before, budget, seen.shown, known | seen.words, learnt)
