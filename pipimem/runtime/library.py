"""What was said in the channels, to be searched: each transcript indexed at its first question, and kept fresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from pipimem.clock import Clock
from pipimem.errors import PipimemError, StoreError
from pipimem.notes.files import File
from pipimem.notes.notes import Note
from pipimem.recall.items import Item, Source, history_items, message_item
from pipimem.recall.search.confidence import beside, is_clear
from pipimem.recall.search.filters import Filters
from pipimem.recall.search.grouping import Said, grouped
from pipimem.recall.search.hits import Hit
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.known import Known
from pipimem.recall.search.packing import packed, unpacked
from pipimem.recall.search.ranking import search
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.pages import Bookmark, Pages
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.words import Words

# Called with the number of the message that was read last, and of the newest; they are equal at the end.
Report = Callable[[int, int], None]
_TOLD_EVERY = 100
# Cutting so many takes 60 ms, as long as writing a large index: below, the next start cuts them again.
_WORTH_KEEPING = 500
# About so many messages in bytes of their lines.
_WORTH_LOADING = 200 * _WORTH_KEEPING

# How many hits are looked at for each that is shown, to tell how often it was said; more where they are all the same.
_LOOKED_AT = 4
_DEEPEST = 1_000
# How ids of entries begin: recall gives them, but nobody said them.
_ENTRIES = tuple(f"{source}:" for source in (Source.SESSION, Source.MEMORY, Source.HISTORY))


def unwatched(_read: int, _newest: int) -> None:
    """Nobody wants to know how far it is."""


class Shelf:
    """One channel's index: the transcript, of which only the places are kept, and perhaps the archive.

    It goes on from the index that was kept by the last one, where that still fits. `report` is told how far the
    reading is.
    """

    def __init__(
        self,
        store: ChannelStore,
        vocabulary: Vocabulary,
        *,
        archive: bool = False,
        most: int | None = None,
        report: Report = unwatched,
    ) -> None:
        self.store, self._stamp = store, vocabulary.stamp()
        self._pages, known = _kept(store, self._stamp)
        self.index = TranscriptIndex(vocabulary.words, self.item, known)
        self._fits, indexed = known is not None, len(self.index)
        self.freshen(most, report)
        # Before the archive comes to it: that grows at its own pace, and is cut each time.
        self._to_keep: tuple[Bookmark, bytes] | None = None
        if len(self.index) - indexed >= _WORTH_KEEPING:
            self._to_keep = self._pages.bookmark(), packed(self.index.known())
        self._first = len(self.index)
        # The stamp first: what is added while it is read is found out at the next question.
        self._archive = store.archive_stamp() if archive else None
        self._with_archive = archive
        self._old = _archived(store) if archive else ()
        self.index.add_beside(self._old)

    @property
    def stale(self) -> bool:
        """Whether the transcript was rewritten, or the archive is another: only a new shelf helps."""
        is_another = self._with_archive and self.store.archive_stamp() != self._archive
        return self._pages.rewritten or is_another

    def freshen(self, most: int | None = None, report: Report = unwatched) -> None:
        """Take in what was said since, `most` messages of it."""
        message = None
        for message in islice(self._pages.fresh(), most):
            self.index.add((message_item(message),))
            if message.number % _TOLD_EVERY == 0:
                report(message.number, self.store.transcript.last_number)
        if message is not None:
            report(message.number, message.number)

    def keep(self) -> None:
        """Keep the index for the next start, where that saves it time; one that does not fit any more goes.

        It is no loss where it cannot be kept: the next start takes longer, that is all.
        """
        with suppress(PipimemError, OSError):
            if self._to_keep is not None:
                self.store.caches.keep_search(self._stamp, *self._to_keep)
            elif not self._fits:
                self.store.caches.drop_search()
        self._to_keep, self._fits = None, True

    def item(self, slot: int) -> Item:
        """The bullet or message of a slot."""
        place = slot - self._first
        if place < 0:
            return message_item(self._pages.message(slot))
        if place < len(self._old):
            return self._old[place]
        return message_item(self._pages.message(slot - len(self._old)))

    def slot(self, name: str) -> int:
        """Where the message or bullet of an id stands. Raises `StoreError` where there is none."""
        for slot, item in enumerate(self._old, self._first):
            if item.id == name:
                return slot
        place = self._pages.place(name)
        if place is None:  # as the fence names a message of the backlog
            place = self._pages.place(name.removeprefix(f"{Source.LOG}:"))
        if place is None:
            told = f"There is no message {name!r} here; `pipimem search` gives the ids."
            if name.startswith(_ENTRIES):
                told = f"{name!r} is an entry, not a message; `pipimem blame` says from which messages an entry came."
            raise StoreError(told)
        return place if place < self._first else len(self._old) + place


@dataclass(slots=True)
class Library:
    """The shelves of the channels that were asked; `archive` puts folded and expired history beside the transcript.

    Where much is to be read first, `report` is told how far that is.
    """

    workspace: WorkspaceStore
    archive: bool = False
    report: Report = unwatched
    _vocabulary: Vocabulary = field(init=False)
    _shelves: dict[str, Shelf] = field(default_factory=dict)

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
            self.shelf(channel).index,
            query,
            now=Clock().now(),
            limit=count,
            filters=filters,
            synonyms=self._vocabulary.synonyms(),
        )

    def said(self, channel: str, query: str, count: int, filters: Filters) -> tuple[Said, ...]:
        """The same with what was said in the same words told once; those later in the order are looked for a while."""
        depth = _LOOKED_AT * count
        while True:
            hits = self.found(channel, query, depth, filters)
            groups = grouped(hits, self.words)
            if len(groups) >= count or len(hits) < depth or depth >= _DEEPEST:
                return groups[:count]
            depth *= _LOOKED_AT

    def clear(self, channel: str, hits: Sequence[Hit]) -> bool:
        """Whether the first hit is most likely the answer."""
        return is_clear(hits, self.shelf(channel).index)

    def around(self, channel: str, slot: int, before: int, after: int) -> tuple[Item, ...]:
        """What was said around a slot, in its thread."""
        shelf = self.shelf(channel)
        return tuple(map(shelf.item, beside(shelf.index, slot, before, after)))

    def shelf(self, channel: str) -> Shelf:
        """A channel's shelf, as fresh as its files. Raises `ChannelError` where there is no such channel."""
        known = self._shelves.get(channel)
        if known is None or known.stale:
            store = ChannelStore.open(self.workspace, channel, create=False)
            known = self._shelves[channel] = Shelf(
                store, self._vocabulary, archive=self.archive, report=self.report
            )
        else:
            known.freshen()
        return known

    def keep(self) -> None:
        """Keep the indexes for the next start, where that saves it time."""
        for shelf in self._shelves.values():
            shelf.keep()


def kept_up(store: ChannelStore, vocabulary: Vocabulary, most: int | None = None) -> None:
    """Bring the kept index of a channel up to its transcript, `most` messages at once; nothing where little is new."""
    if store.caches.search_lag(vocabulary.stamp()) >= _WORTH_LOADING:
        Shelf(store, vocabulary, most=most).keep()


def _kept(store: ChannelStore, stamp: str) -> tuple[Pages, Known | None]:
    """The kept index, and the place in the transcript up to which it goes: the beginning where there is none."""
    if kept := store.caches.kept_search(stamp):
        with suppress(ValueError):  # whole, and yet none of ours
            return kept[0], unpacked(kept[1])
    return Pages(store.transcript), None


def _archived(store: ChannelStore) -> tuple[Item, ...]:
    old = Note.read(File.ARCHIVE, store.archive_text(), store.key)
    return tuple(
        replace(item, id=item.id.replace("history:", "archive:", 1)) for item in history_items(old)
    )
