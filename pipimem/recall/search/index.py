"""The index of a transcript: for each word the messages that hold it, and what each message is like."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import chain

from pipimem.recall.items import Item
from pipimem.recall.search.formula import USUAL_LENGTH
from pipimem.recall.search.known import Known
from pipimem.recall.search.shapes import shape_of
from pipimem.recall.search.volume import Volume, joined
from pipimem.recall.spelling import Spelling
from pipimem.text.words import Words

# A message longer than this is punished no further: it may hold one sentence that matters.
LONGEST = 8 * USUAL_LENGTH
_BOT_ROLES = frozenset(("assistant", "tool", "system"))


class TranscriptIndex:
    """Messages by their words, in the order of the transcript; rebuilt from it, never the truth.

    A message's slot is its place, from 0. A word that a message holds twice names its slot twice. The texts are
    not kept: `shelf` gives the message of a slot. Without one it keeps them after all, for talk that is in memory
    anyway.
    """

    def __init__(
        self, words: Words, shelf: Callable[[int], Item] | None = None, known: Known | None = None
    ) -> None:
        known = known or Known()
        self.words = words
        self.item = shelf or self._kept
        self.threads = known.threads
        self.speakers = list(known.speakers)
        self.spoken_by = known.spoken_by
        self.lengths = known.lengths
        self.shapes = known.shapes
        self.roles = known.roles
        self.role_names = list(known.role_names)
        self._items: list[Item] | None = None if shelf else []
        self._speaker_numbers = {speaker: number for number, speaker in enumerate(self.speakers)}
        # Words of later messages, with all their places; the others' are in the volume.
        self._places: dict[str, array[int]] = {}
        self._volume = known.volume
        self._days = dict(known.days)

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, items: Iterable[Item]) -> None:
        """Messages that come after those it has."""
        for item in items:
            self._put(item)

    def add_beside(self, items: Iterable[Item]) -> None:
        """Items that are no part of the talk: it goes on behind them as if they were not there."""
        talk, self.threads.last = self.threads.last, {}
        self.add(items)
        self.threads.last = talk

    def known(self) -> Known:
        """All that it knows now, of its words a copy: letting go of the thousands of small rows would free no memory."""
        words = sorted({*self._volume.words, *self._places})
        volume = Volume(words, *joined(map(self.places, words)))
        return Known(
            tuple(self.speakers), tuple(self.role_names), self.spoken_by, self.lengths, self.shapes, self.roles,
            self.threads, self._days, volume,
        )  # fmt: skip

    def _kept(self, slot: int) -> Item:
        assert self._items is not None
        return self._items[slot]

    def places(self, word: str) -> Sequence[int]:
        """The slots of the messages that hold a word, in order, once for each time they hold it."""
        places = self._places.get(word)
        return self._volume.places(word) if places is None else places

    def within(self, start: date, end: date) -> Iterator[array[int]]:
        """The slots of the messages of each day from `start` to `end`, both included."""
        first, last = start.toordinal(), end.toordinal()
        if last - first < len(self._days):
            return (self._days[day] for day in range(first, last + 1) if day in self._days)
        return (slots for day, slots in self._days.items() if first <= day <= last)

    @property
    def oldest_day(self) -> date | None:
        """The first day anything was said."""
        return date.fromordinal(min(self._days)) if self._days else None

    @property
    def newest_day(self) -> date | None:
        """The last day anything was said."""
        return date.fromordinal(max(self._days)) if self._days else None

    def near(self, word: str) -> tuple[str, ...]:
        """The words one slip of the finger away from a word that no message holds."""
        if not (word.isascii() and word.isalpha()):
            return ()
        spelling = Spelling()
        for known in chain(self._places, self._volume.beginning_with(word[0])):
            if known[0] == word[0]:
                spelling.add(known)
        return spelling.near(word)

    def _put(self, item: Item) -> None:
        slot, bag = len(self), self.words.bag(item.text)
        for word in bag.words:
            self._place(word, slot)
        for gram in bag.grams:
            if not gram[-1].isascii():  # letters of Latin words: the spelling says what was meant
                self._place(gram, slot)
        if item.when is not None:
            self._days.setdefault(item.when.toordinal(), array("I")).append(slot)
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
            places = self._places[word] = array("I", tuple(self._volume.places(word)))
        places.append(slot)


def _number(name: str, names: list[str]) -> int:
    """The place of a name among a few, where it is put if it is new."""
    if name not in names:
        names.append(name)
    return names.index(name)


def between(places: Sequence[int], start: int, end: int) -> Sequence[int]:
    """The places from `start` up to `end`, which is not one of them."""
    return places[bisect_left(places, start) : bisect_left(places, end)]
