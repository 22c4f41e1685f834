"""Search by hand: what the notes and the transcripts of channels have to say to a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain

from pipimem.clock import Clock
from pipimem.recall.items import Item, Source, masked_items
from pipimem.recall.recall import Recall
from pipimem.recall.transcript.excerpts import excerpt, headed, is_off_the_record, passage_text
from pipimem.recall.transcript.hits import (
    Filters,
    Hit,
    HitGroup,
    all_around,
    copies_of,
    differing,
    grouped,
    is_clear,
    thread_around,
)
from pipimem.recall.transcript.rank import search
from pipimem.runtime.transcript_recall import Report, TranscriptSearch, no_progress
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import SecretSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.secrets import NO_LIST, redacted
from pipimem.text.words.index_words import Words

__all__ = [
    "Filters",
    "Hit",
    "HitGroup",
    "SearchAnswer",
    "SearchHit",
    "SearchService",
    "TalkExtent",
    "copies_of",
    "counted_once",
    "differing",
    "headed",
    "note_hits",
]

# How many hits are looked at for each that is shown, to tell how often it was said; more where they
# are all the same. Of the notes filters and messages leave some out.
_LOOKED_AT = 4
_DEEPEST = 1_000
# What is shown around a clear hit: about 200 tokens.
_BEFORE, _AFTER = 2, 2


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One thing that a search found, its score and what of it is nearest to the question.

    `also` are the ids of messages that say the same. `passage` is the best passage of a long
    message under its heading, else empty.
    """

    item: Item
    score: float
    excerpt: str
    also: tuple[str, ...] = ()
    passage: str = ""

    @property
    def said(self) -> str:
        """The passage that was found, or all of a short text."""
        return self.passage or self.item.text


@dataclass(frozen=True, slots=True)
class TalkExtent:
    """Who spoke in a channel, and the first and the last day on which anything was said."""

    speakers: tuple[str, ...]
    oldest_day: date | None
    newest_day: date | None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What the notes and what was said have to say to a question, best first.

    `around` is what was said around the first message where that is most likely the answer, else
    empty. Without `has_words` the question has none to look for, only such as all say all the time.
    """

    notes: tuple[SearchHit, ...]
    said: tuple[SearchHit, ...]
    around: tuple[Item, ...]
    has_words: bool


@dataclass(slots=True)
class SearchService:
    """The indexes of the channels searched so far; `archive` adds the archived history.

    Where much is to be read first, `report` is told how far that is.
    """

    workspace: WorkspaceStore
    archive: bool = False
    report: Report = no_progress
    # What is masked besides the known kinds of secrets.
    own: SecretSettings = NO_LIST
    clock: Clock = field(default_factory=Clock)
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
            now=self.clock.now(),
            limit=count,
            filters=filters,
            synonyms=self._vocabulary.synonyms(),
        )

    def hit_groups(
        self, channel: str, query: str, count: int, filters: Filters
    ) -> tuple[HitGroup, ...]:
        """Hits grouped by equal wording; deeper hits are searched until `count` groups."""
        depth = _LOOKED_AT * count
        while True:
            hits = self.found(channel, query, depth, filters)
            groups = grouped(hits, self.words)
            if len(groups) >= count or len(hits) < depth or depth >= _DEEPEST:
                return groups[:count]
            depth *= _LOOKED_AT

    def transcript_hits(
        self, channel: str, query: str, count: int, filters: Filters
    ) -> list[SearchHit]:
        """What was said to a question, best first, each with its copies."""
        return self._with_excerpts(channel, query, self.hit_groups(channel, query, count, filters))

    def hits_with_thread(
        self, channel: str, query: str, count: int, filters: Filters
    ) -> tuple[list[SearchHit], tuple[Item, ...]]:
        """The same, and what was said around the first hit if that is most likely the answer."""
        groups = self.hit_groups(channel, query, count, filters)
        hits = [group.hit for group in groups]
        around: tuple[Item, ...] = ()
        if hits and self.is_clear(channel, hits):
            around = self.around(channel, hits[0].slot, _BEFORE, _AFTER)
        return self._with_excerpts(channel, query, groups), around

    def ranked(
        self, channel: str, query: str, count: int, filters: Filters
    ) -> tuple[SearchHit, ...]:
        """The best messages by their scores alone, copies too; they have no excerpts."""
        found = self.found(channel, query, count, filters)
        return tuple(self._search_hit(channel, hit) for hit in found)

    def extent(self, channel: str) -> TalkExtent:
        """Who spoke in a channel, and on which days."""
        index = self.channel_search(channel).index
        speakers = tuple(filter(None, index.speakers))
        return TalkExtent(speakers, index.oldest_day, index.newest_day)

    def _with_excerpts(
        self, channel: str, query: str, groups: Sequence[HitGroup]
    ) -> list[SearchHit]:
        """Return the hits with time, speaker and the sentence nearest to the query."""
        wanted = self.words.words(query)
        shown: list[SearchHit] = []
        for group in groups:
            hit = self._search_hit(channel, group.hit)
            text = headed(hit.item, excerpt(redacted(hit.said), wanted, self.words))
            shown.append(replace(hit, excerpt=text, also=tuple(one.item.id for one in group.again)))
        return shown

    def _search_hit(self, channel: str, hit: Hit) -> SearchHit:
        (item,) = self._items(channel, [hit.slot])
        said = passage_text(item.text, hit.passage)
        return SearchHit(item, hit.score, "", passage="" if said == item.text else said)

    def timeline(self, channel: str, message: str, around: int) -> tuple[Item, ...]:
        """What was said around the message of an id. Raises `NothingFound`."""
        return self.all_around(channel, self.channel_search(channel).slot(message), around)

    def details(self, channel: str, messages: Iterable[str]) -> tuple[Item, ...]:
        """Whole messages by their ids. Raises `NothingFound`."""
        found = self.channel_search(channel)
        return self._items(channel, [found.slot(message) for message in messages])

    def is_clear(self, channel: str, hits: Sequence[Hit]) -> bool:
        """Whether the first hit is most likely the answer."""
        return is_clear(hits, self.channel_search(channel).index)

    def around(self, channel: str, slot: int, before: int, after: int) -> tuple[Item, ...]:
        """What was said around a slot, in its thread."""
        found = self.channel_search(channel)
        return self._items(channel, thread_around(found.index, slot, before, after))

    def all_around(self, channel: str, slot: int, around: int) -> tuple[Item, ...]:
        """So many messages before and after a slot, those of its thread first."""
        found = self.channel_search(channel)
        return self._items(channel, all_around(found.index, slot, around, found.archive))

    def _items(self, channel: str, slots: Iterable[int]) -> tuple[Item, ...]:
        """Return the items of slots, masked, with those marked that are off the record."""
        found = self.channel_search(channel)
        items = []
        for slot in slots:
            item = found.item(slot)
            is_message = item.source is Source.LOG and 0 <= slot < len(found.index)
            if is_message and is_off_the_record(found.index, slot):
                item = replace(item, off_the_record=True)
            items.append(item)
        return masked_items(items, self.own)

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


def counted_once(notes: Sequence[SearchHit], said: Sequence[SearchHit]) -> list[SearchHit]:
    """The hits of notes and transcript; a message that a note quotes whole is `also` of that."""
    copies = copies_of((hit.item for hit in notes), (hit.item for hit in said))
    quoted = frozenset(chain.from_iterable(copies.values()))
    again = {hit.item.id: (hit.item.id, *hit.also) for hit in said}
    known: list[SearchHit] = []
    for hit in notes:
        also = chain.from_iterable(again[name] for name in copies.get(hit.item.id, ()))
        known.append(replace(hit, also=(*hit.also, *also)))
    return [*known, *(hit for hit in said if hit.item.id not in quoted)]


def note_hits(recalled: Callable[[int], Recall], count: int, filters: Filters) -> list[SearchHit]:
    """What the notes have to say, best first; `recalled` recalls so many candidates of them.

    Messages are none of the notes: the transcript has them.
    """
    found = recalled(_LOOKED_AT * count)
    hits = [
        SearchHit(one.item, one.score, headed(one.item, redacted(one.item.text)))
        for one in found.candidates
        if one.item.source is not Source.LOG and filters.admits(one.item)
    ]
    return hits[:count]
