"""What was said in the channels, to be searched: each transcript indexed at its first question, and kept fresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pipimem.clock import Clock
from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.notes.notes import Note
from pipimem.recall.items import Item, Source, history_items, message_item
from pipimem.recall.search.confidence import beside, is_clear
from pipimem.recall.search.filters import Filters
from pipimem.recall.search.hits import Hit
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.kinds import Kinds
from pipimem.recall.search.ranking import search
from pipimem.recall.synonyms import Synonyms, learnt
from pipimem.store.channel import ChannelStore
from pipimem.store.pages import Pages
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words


class Shelf:
    """One channel's index: the archive first, then the transcript, of which only the places are kept."""

    def __init__(self, store: ChannelStore, words: Words, *, archive: bool) -> None:
        self.store = store
        self._old = _archived(store) if archive else ()
        self._pages = Pages(store.transcript)
        self.index = TranscriptIndex(words, self.item)
        self.index.add(self._old)
        self.freshen()

    @property
    def stale(self) -> bool:
        """Whether the transcript was rewritten: only a new shelf helps."""
        return self._pages.rewritten

    def freshen(self) -> None:
        """Take in what was said since."""
        self.index.add(map(message_item, self._pages.fresh()))

    def item(self, slot: int) -> Item:
        """The bullet or message of a slot."""
        if slot < len(self._old):
            return self._old[slot]
        return message_item(self._pages.message(slot - len(self._old)))

    def slot(self, name: str) -> int:
        """Where the message or bullet of an id stands. Raises `StoreError` where there is none."""
        for slot, item in enumerate(self._old):
            if item.id == name:
                return slot
        place = self._pages.place(name)
        if place is None:  # as the fence names a message of the backlog
            place = self._pages.place(name.removeprefix(f"{Source.LOG}:"))
        if place is None:
            raise StoreError(f"There is no message {name!r} here; `pipimem search` gives the ids.")
        return len(self._old) + place


@dataclass(slots=True)
class Library:
    """The shelves of the channels that were asked; `archive` puts folded and expired history beside the transcript."""

    workspace: WorkspaceStore
    archive: bool = False
    clock: Clock = field(default_factory=Clock)
    words: Words = field(init=False)
    _synonyms: Synonyms = field(init=False)
    _kinds: Kinds = field(default_factory=Kinds)
    _shelves: dict[str, Shelf] = field(default_factory=dict)

    def __post_init__(self) -> None:
        segmenter = Segmenter(None)
        self.words = Words(segmenter)
        self._synonyms = learnt(self.workspace.human_text("words.txt"), segmenter, self.words)

    def found(self, channel: str, query: str, count: int, filters: Filters) -> tuple[Hit, ...]:
        """What a channel has to say to a question, best first."""
        return search(
            self.shelf(channel).index,
            query,
            now=self.clock.now(),
            limit=count,
            filters=filters,
            synonyms=self._synonyms,
            kinds=self._kinds,
        )

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
            known = self._shelves[channel] = Shelf(store, self.words, archive=self.archive)
        else:
            known.freshen()
        return known


def _archived(store: ChannelStore) -> tuple[Item, ...]:
    old = Note.read(File.ARCHIVE, store.archive_text(), store.key)
    return tuple(replace(item, id=item.id.replace("history:", "archive:", 1)) for item in history_items(old))
