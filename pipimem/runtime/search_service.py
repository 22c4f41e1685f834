"""Search over transcripts: one index per channel, built at the first query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from pipimem.clock import Clock
from pipimem.errors import NothingFound, PipimemError
from pipimem.notes.files import File
from pipimem.notes.notes import Note
from pipimem.recall.items import Item, Source, history_items, message_item
from pipimem.recall.transcript.excerpts import excerpt, headed
from pipimem.recall.transcript.filters import Filters
from pipimem.recall.transcript.hits import (
    Hit,
    HitGroup,
    differing,
    grouped,
    is_clear,
    thread_around,
)
from pipimem.recall.transcript.packing import TranscriptState, packed, unpacked
from pipimem.recall.transcript.rank import search
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.secrets import redacted
from pipimem.text.words.index_words import Words

__all__ = [
    "Filters",
    "Hit",
    "HitGroup",
    "SearchHit",
    "SearchService",
    "differing",
    "headed",
    "update_search_cache",
]

# Called with the number of the message that was read last, and of the newest; they are equal at the
# end.
Report = Callable[[int, int], None]
_TOLD_EVERY = 100
# Cutting so many takes 30 ms, or with long Chinese messages half a second: below, the next start
# cuts them again.
_WORTH_KEEPING = 200
# About so many messages in bytes of their lines.
_WORTH_LOADING = 200 * _WORTH_KEEPING

# How many hits are looked at for each that is shown, to tell how often it was said; more where they
# are all the same.
_LOOKED_AT = 4
_DEEPEST = 1_000
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
        self._is_current, indexed = known is not None, len(self.index)
        self.update(most, report)
        # Before the archive comes to it: that grows at its own pace, and is cut each time.
        self._to_keep: tuple[ReadPosition, bytes] | None = None
        if len(self.index) - indexed >= _WORTH_KEEPING:
            self._to_keep = self._reader.read_position(), packed(self.index.state())
        self._first = len(self.index)
        # The stamp first: what is added while it is read is found out at the next question.
        self._archive = store.archive_stamp() if archive else None
        self._with_archive = archive
        self._old = _archive_items(store) if archive else ()
        self.index.add_separately(self._old)

    @property
    def is_stale(self) -> bool:
        """Whether the transcript was rewritten or the archive changed: build a new one."""
        is_another = self._with_archive and self.store.archive_stamp() != self._archive
        return self._reader.rewritten or is_another

    @property
    def last_number(self) -> int:
        """The number of the newest message in the index; 0 where it holds none."""
        return self._reader.message(len(self._reader) - 1).number if len(self._reader) else 0

    def update(self, most: int | None = None, report: Report = no_progress) -> None:
        """Take in what was said since, `most` messages of it."""
        message = None
        for message in islice(self._reader.fresh(), most):
            self.index.add((message_item(message),))
            if message.number % _TOLD_EVERY == 0:
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


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One thing that a search found, its score and what of it is nearest to the question.

    `also` are the ids of messages that say the same.
    """

    item: Item
    score: float
    excerpt: str
    also: tuple[str, ...] = ()


@dataclass(slots=True)
class SearchService:
    """The indexes of the channels searched so far; `archive` adds the archived history.

    Where much is to be read first, `report` is told how far that is.
    """

    workspace: WorkspaceStore
    archive: bool = False
    report: Report = no_progress
    _vocabulary: Vocabulary = field(init=False)
    _searches: dict[str, TranscriptSearch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._vocabulary = Vocabulary(self.workspace)

    @property
    def words(self) -> Words:
        """How texts are cut here."""
        return self._vocabulary.words

    def may_find(self, query: str) -> bool:
        """Whether a question has anything to look for besides days."""
        bag = self.words.bag(query)
        return bool(bag.words or bag.grams)

    def found(self, channel: str, query: str, count: int, filters: Filters) -> tuple[Hit, ...]:
        """What a channel has to say to a question, best first."""
        return search(
            self.channel_search(channel).index,
            query,
            now=Clock().now(),
            limit=count,
            filters=filters,
            synonyms=self._vocabulary.synonyms(),
        )

    def said(self, channel: str, query: str, count: int, filters: Filters) -> tuple[HitGroup, ...]:
        """Hits grouped by equal wording; deeper hits are searched until `count` groups."""
        depth = _LOOKED_AT * count
        while True:
            hits = self.found(channel, query, depth, filters)
            groups = grouped(hits, self.words)
            if len(groups) >= count or len(hits) < depth or depth >= _DEEPEST:
                return groups[:count]
            depth *= _LOOKED_AT

    def excerpts(self, query: str, hits: Iterable[Hit]) -> list[str]:
        """A hit as a list shows it: time, speaker and the sentence nearest to the query."""
        wanted = self.words.words(query)
        return [
            headed(hit.item, excerpt(redacted(hit.item.text), wanted, self.words)) for hit in hits
        ]

    def transcript_hits(
        self, channel: str, query: str, count: int, filters: Filters
    ) -> list[SearchHit]:
        """What was said to a question, best first, each with its copies."""
        groups = self.said(channel, query, count, filters)
        texts = self.excerpts(query, [group.hit for group in groups])
        return [
            SearchHit(
                group.hit.item, group.hit.score, text, tuple(hit.item.id for hit in group.again)
            )
            for group, text in zip(groups, texts, strict=True)
        ]

    def timeline(self, channel: str, message: str, around: int) -> tuple[Item, ...]:
        """What was said around the message of an id. Raises `NothingFound`."""
        return self.around(channel, self.channel_search(channel).slot(message), around, around)

    def details(self, channel: str, messages: Iterable[str]) -> tuple[Item, ...]:
        """Whole messages by their ids. Raises `NothingFound`."""
        found = self.channel_search(channel)
        return tuple(found.item(found.slot(message)) for message in messages)

    def clear(self, channel: str, hits: Sequence[Hit]) -> bool:
        """Whether the first hit is most likely the answer."""
        return is_clear(hits, self.channel_search(channel).index)

    def around(self, channel: str, slot: int, before: int, after: int) -> tuple[Item, ...]:
        """What was said around a slot, in its thread."""
        found = self.channel_search(channel)
        return tuple(map(found.item, thread_around(found.index, slot, before, after)))

    def channel_search(self, channel: str) -> TranscriptSearch:
        """A channel's index, up to date. Raises `ChannelError` for an unknown channel."""
        known = self._searches.get(channel)
        if known is None or known.is_stale:
            store = ChannelStore.open(self.workspace, channel, create=False)
            known = self._searches[channel] = TranscriptSearch(
                store, self._vocabulary, archive=self.archive, report=self.report
            )
        else:
            known.update()
        return known

    def keep(self) -> None:
        """Keep the indexes for the next start, where that saves it time."""
        for channel_search in self._searches.values():
            channel_search.keep()


def update_search_cache(
    store: ChannelStore, vocabulary: Vocabulary, most: int | None = None
) -> None:
    """Update the cached index of a channel by `most` messages; skips small changes."""
    if store.caches.search_lag(vocabulary.stamp()) >= _WORTH_LOADING:
        TranscriptSearch(store, vocabulary, most=most).keep()


def _cached(store: ChannelStore, stamp: str) -> tuple[TranscriptReader, TranscriptState | None]:
    """The cached index with its reader, or a reader from the start and `None`."""
    cached = store.caches.kept_search(stamp)
    if cached is not None:
        with suppress(ValueError):  # whole, and yet none of ours
            return cached[0], unpacked(cached[1])
    return TranscriptReader(store.transcript), None


def _archive_items(store: ChannelStore) -> tuple[Item, ...]:
    old = Note.read(File.ARCHIVE, store.archive_text(), store.key)
    return tuple(
        replace(item, id=item.id.replace("history:", "archive:", 1)) for item in history_items(old)
    )
