"""The index of a transcript: which messages hold a word, and what each message is like."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import chain

from pipimem.recall.items import Item
from pipimem.recall.postings import pairs
from pipimem.recall.spelling import Spelling
from pipimem.recall.transcript.features import shape_of
from pipimem.recall.transcript.formula import USUAL_LENGTH
from pipimem.recall.transcript.packing import StoredPostings, TranscriptState, joined
from pipimem.text.words.index_words import Words

# A message longer than this is punished no further: it may hold one sentence that matters.
LONGEST = 8 * USUAL_LENGTH
_BOT_ROLES = frozenset(("assistant", "tool", "system"))


class TranscriptIndex(TranscriptState):
    """Messages by their words, in the order of the transcript; rebuilt from it, never the truth.

    A message's slot is its place, from 0. A word that a message holds twice names its slot twice.
    The texts are not kept: `item` gives the message of a slot. Without one they are kept after all,
    for talk that is in memory anyway.
    """

    def __init__(
        self,
        words: Words,
        item: Callable[[int], Item] | None = None,
        state: TranscriptState | None = None,
    ) -> None:
        """The index goes on from `state`, which is its own from then on."""
        super().__init__(**(state or TranscriptState()).values())
        self.words = words
        self._items: list[Item] | None = None if item else []
        self.item = item or self._kept
        self._speaker_numbers = {speaker: number for number, speaker in enumerate(self.speakers)}
        # Words of later messages, with all their places; the others' are in `stored`.
        self._places: dict[str, array[int]] = {}
        self._spelling: Spelling | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, items: Iterable[Item]) -> None:
        """Messages that come after those it has."""
        for item in items:
            self._put(item)

    def add_separately(self, items: Iterable[Item]) -> None:
        """Items that are no part of the talk: it goes on behind them as if they were not there."""
        talk, self.threads.last = self.threads.last, {}
        self.add(items)
        self.threads.last = talk

    def state(self) -> TranscriptState:
        """All that it knows now, with its words copied into one row.

        It goes on with its own: letting go of thousands of small rows would free no memory.
        """
        words = sorted({*self.stored.words, *self._places})
        stored = StoredPostings(words, *joined(map(self.places, words)))
        return TranscriptState(**self.values() | {"stored": stored})

    def _kept(self, slot: int) -> Item:
        assert self._items is not None
        return self._items[slot]

    def places(self, word: str) -> Sequence[int]:
        """The slots of the messages that hold a word, in order, once for each time they hold it."""
        places = self._places.get(word)
        return self.stored.places(word) if places is None else places

    def within(self, start: date, end: date) -> Iterator[array[int]]:
        """The slots of the messages of each day from `start` to `end`, both included."""
        first, last = start.toordinal(), end.toordinal()
        if last - first < len(self.days):
            return (self.days[day] for day in range(first, last + 1) if day in self.days)
        return (slots for day, slots in self.days.items() if first <= day <= last)

    @property
    def oldest_day(self) -> date | None:
        """The first day anything was said."""
        return date.fromordinal(min(self.days)) if self.days else None

    @property
    def newest_day(self) -> date | None:
        """The last day anything was said."""
        return date.fromordinal(max(self.days)) if self.days else None

    def near(self, *words: str) -> tuple[str, ...]:
        """The words one slip of the finger away from one of these, which no message holds."""
        return self.spelling().near_any(*words)

    def spelling(self) -> Spelling:
        """All words by what a misspelt one has in common with them; 40 ms for 40,000 at first."""
        if self._spelling is None:
            self._spelling = Spelling()
            for known in chain(self.stored.words, self._places):
                self._spelling.add(known)
        return self._spelling

    def _put(self, item: Item) -> None:
        slot, bag = len(self), self.words.bag(item.text)
        for word in (*bag.words, *pairs(bag)):
            self._place(word, slot)
        if item.when is not None:
            self.days.setdefault(item.when.toordinal(), array("I")).append(slot)
        speaker = self._speaker_numbers.setdefault(item.speaker, len(self.speakers))
        if speaker == len(self.speakers):
            self.speakers.append(item.speaker)
        self.spoken_by.append(speaker)
        self.lengths.append(min(len(bag.words), LONGEST))
        self.shapes.append(shape_of(item.text))
        time = int(item.when.timestamp()) if item.when else 0
        self.threads.add(speaker, time, by_bot=item.role in _BOT_ROLES)
        self.roles.append(_number(item.role, self.role_names))
        if self._items is not None:
            self._items.append(item)

    def _place(self, word: str, slot: int) -> None:
        places = self._places.get(word)
        if places is None:
            places = self._places[word] = array("I", tuple(self.stored.places(word)))
            if self._spelling is not None:
                self._spelling.add(word)
        places.append(slot)


def _number(name: str, names: list[str]) -> int:
    """The place of a name among a few, where it is put if it is new."""
    if name not in names:
        names.append(name)
    return names.index(name)


def between(places: Sequence[int], start: int, end: int) -> Sequence[int]:
    """The places from `start` up to `end`, which is not one of them."""
    return places[bisect_left(places, start) : bisect_left(places, end)]
