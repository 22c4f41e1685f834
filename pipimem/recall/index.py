"""The inverted index of a channel: which items hold a word, and how much that counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipimem.recall.items import Item
from pipimem.recall.spelling import Spelling
from pipimem.text.words import GRAM, Bag, Words

# BM25 with its usual saturation. Items are short, so a longer one is hardly ever about more things: a small
# `b`. The length is held against a fixed one and not the channel's mean, so that an impact once computed
# stays true.
_K1 = 1.2
_B = 0.2
_USUAL_LENGTH = 16
# A long message or section may hold one sentence that matters: beyond this length it is punished no further.
_LONG = 6 * _USUAL_LENGTH
# Two characters next to each other say less than a word: they find compounds the dictionary does not know.
_GRAM_WEIGHT = 0.25
# A gram of one character: the mark and the character.
_SINGLE = len(GRAM) + 1
# As if this many items about other things stood beside: in a memory of three, a word of two of them is still
# rare.
_OTHER_ITEMS = 20
_A_HAIR = 1 - 1e-9
# No impact is higher.
_HIGHEST = math.inf
# What a word reached through its spelling counts, against the word itself.
_MISSPELT_WEIGHT = 0.75


class Term(NamedTuple):
    """One word of a question: how much it counts, and what may stand in its place with what share of that."""

    word: str
    weight: float = 1.0
    instead: tuple[tuple[str, float], ...] = ()
    weak: bool = False
    """A word too common in any talk to be evidence by itself."""


class Share(NamedTuple):
    """What one word of a question counts in one item; a tuple for the same reason as `Part`."""

    word: str
    value: float
    weight: float = 1.0
    weak: bool = False
    gram: bool = False


class Reach(NamedTuple):
    """A term that stands somewhere: with what weight, the most it adds to any item, and where."""

    term: Term
    weight: float
    most: float
    slots: Mapping[int, float]
    gram: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of an index to the words of a question; `totals` is slot → evidence.

    `reached` are the words that stand anywhere: first those that mean something, then the weak ones, the
    weightiest first. It looks into the index as it is now: what is to be kept, `shares` copies.
    """

    reached: tuple[Reach, ...]
    totals: Mapping[int, float]

    def shares(self, slot: int) -> list[Share]:
        """The parts of an item's evidence, in the order they were added up."""
        return [
            Share(term.word, weight * slots[slot], term.weight, term.weak, gram)
            for term, weight, _, slots, gram in self.reached
            if slot in slots
        ]


@dataclass(slots=True)
class _Postings:
    """Word → slot → impact, the saturated count of the word in the item of that slot."""

    by_word: dict[str, dict[int, float]] = field(default_factory=dict)
    # Of the words that were asked for: a common one has thousands of places, and is asked for again.
    _peaks: dict[str, float] = field(default_factory=dict)

    def peak(self, word: str) -> float:
        """The highest impact of a word that stands somewhere."""
        peak = self._peaks.get(word)
        if peak is None:
            peak = self._peaks[word] = max(self.by_word[word].values())
        return peak

    def add(self, slot: int, words: Sequence[str], *, spelling: Spelling | None = None) -> None:
        norm = _K1 * (1 - _B + _B * min(len(words), _LONG) / _USUAL_LENGTH)
        for word, count in Counter(words).items():
            slots = self.by_word.get(word)
            if slots is None:
                slots = self.by_word[word] = {}
                if spelling is not None:
                    spelling.add(word)
            impact = slots[slot] = count * (_K1 + 1) / (count + norm)
            if impact > self._peaks.get(word, _HIGHEST):
                self._peaks[word] = impact

    def remove(self, slot: int, words: Iterable[str], *, spelling: Spelling | None = None) -> None:
        for word in set(words):
            slots = self.by_word[word]
            if slots.pop(slot) >= self._peaks.get(word, _HIGHEST):
                del self._peaks[word]
            if not slots:
                del self.by_word[word]
                if spelling is not None:
                    spelling.remove(word)


class Index:
    """Items by their words. Owned by whoever owns the channel, and brought up to date by difference."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self._slots: dict[str, int] = {}
        self._items: list[Item | None] = []
        self._bags: list[Bag] = []
        self._free: list[int] = []
        self._parts: dict[str, dict[str, Item]] = {}
        self._postings = _Postings()
        self._grams = _Postings()
        self._spelling = Spelling()

    def __len__(self) -> int:
        return len(self._slots)

    def slots(self) -> Iterator[tuple[int, Item]]:
        """Every item with its slot."""
        return ((slot, item) for slot, item in enumerate(self._items) if item is not None)

    def update(self, items: Iterable[Item], part: str = "") -> None:
        """Make `items` all there is of `part`; what did not change costs a look, what kept its text no cutting."""
        old = self._parts.get(part, {})
        fresh = {item.id: item for item in items}
        for name in old.keys() - fresh.keys():
            self._remove(name)
        for name, item in fresh.items():
            if (before := old.get(name)) is not item and before != item:
                self._put(item, before)
        self._parts[part] = fresh

    def add(self, items: Iterable[Item], part: str = "") -> None:
        """Items that come on top of what `part` has: a transcript only grows."""
        present = self._parts.setdefault(part, {})
        for item in items:
            if item.id not in present:
                self._put(item, None)
                present[item.id] = item

    def item(self, slot: int) -> Item:
        """The item in a slot that `search` named."""
        item = self._items[slot]
        assert item is not None
        return item

    def search(
        self, terms: Sequence[Term], grams: Sequence[str] = (), *, floor: float = 0.0, share: float = 0.0
    ) -> Found:
        """What the words of a question found: for each item the sum of what they count in it.

        With a `floor`, an item whose words that mean something cannot add up to it may be missing; with a `share`,
        one that cannot come to that share of the best. The rest is exact.
        """
        reached = sorted(self._reached(terms, grams), key=_most, reverse=True)
        strong = [reach for reach in reached if not reach.term.weak]
        weak = [reach for reach in reached if reach.term.weak]
        totals: dict[int, float] = {}
        open_ended, extra = sum(reach.most for reach in strong), sum(reach.most for reach in weak)
        for reach in strong:
            # From here on no new item could reach the floor, or come near enough to the best.
            closed = open_ended < floor or open_ended + extra < share * _highest(totals, len(reach.slots))
            _added(totals, reach, only_known=closed)
            open_ended -= reach.most
        for reach in weak:
            _added(totals, reach, only_known=floor > 0)
        return Found((*strong, *weak), totals)

    def bag(self, slot: int) -> Bag:
        """The words of the item in a slot."""
        return self._bags[slot]

    def _reached(self, terms: Sequence[Term], grams: Sequence[str]) -> Iterator[Reach]:
        """Each term that stands anywhere, with its weight and places; then the grams."""
        known, rarity = self._postings.by_word, self._rarity
        for term in terms:
            slots = known.get(term.word)
            others = [(places, share) for word, share in term.instead if (places := known.get(word))]
            if slots is None and not others:
                unknown = (*self._misspelt(term.word), *self._within(term.word))
                others = [(places, _MISSPELT_WEIGHT) for places in unknown]
            if others:
                best = self._best(slots, others)
                yield Reach(term, term.weight, term.weight * max(best.values()), best)
            elif slots is not None:
                weight = term.weight * rarity(len(slots))
                yield Reach(term, weight, weight * self._postings.peak(term.word), slots)
        known = self._grams.by_word
        for gram in grams:
            if slots := known.get(gram):
                weight = _GRAM_WEIGHT * rarity(len(slots))
                yield Reach(Term(gram, weak=True), weight, weight * self._grams.peak(gram), slots, gram=True)

    def _misspelt(self, word: str) -> Iterator[dict[int, float]]:
        """Where the known words stand that an unknown one may mean."""
        return (self._postings.by_word[known] for known in self._spelling.near(word))

    def _within(self, word: str) -> Iterator[dict[int, float]]:
        """Where an unknown Chinese word stands inside longer ones: a given name, half of a compound."""
        if word.isascii():
            return
        grams = [gram for gram in dict.fromkeys(_pairs(self.words.bag(word))) if len(gram) > _SINGLE]
        if not grams or any(gram not in self._grams.by_word for gram in grams):
            return
        places = sorted((self._grams.by_word[gram] for gram in grams), key=len)
        common = {slot: impact for slot, impact in places[0].items() if all(slot in other for other in places[1:])}
        if common:
            yield common

    def _best(
        self, slots: Mapping[int, float] | None, others: Iterable[tuple[Mapping[int, float], float]]
    ) -> Mapping[int, float]:
        """Where a word or one of those in its place stands, with the best of what they count."""
        rarity = self._rarity(len(slots)) if slots else 0.0
        best = {slot: rarity * impact for slot, impact in slots.items()} if slots else {}
        for places, share in others:
            rarity = self._rarity(len(places)) * share
            for slot, impact in places.items():
                best[slot] = max(best.get(slot, 0.0), rarity * impact)
        return best

    def _rarity(self, spread: int) -> float:
        """IDF over the channel, 1 for a word of one item: it means the same in small and large channels."""
        total = len(self._slots) + _OTHER_ITEMS
        return math.log(1 + (total - spread + 0.5) / (spread + 0.5)) / math.log(1 + (total - 0.5) / 1.5)

    def _put(self, item: Item, before: Item | None) -> None:
        if before is not None and before.text == item.text and before.head == item.head:
            self._items[self._slots[item.id]] = item
            return
        if before is not None:
            self._remove(item.id)
        bag = self.words.bag(f"{item.head}\n{item.text}" if item.head else item.text)
        slot = self._free.pop() if self._free else len(self._items)
        if slot == len(self._items):
            self._items.append(item)
            self._bags.append(bag)
        self._slots[item.id], self._items[slot], self._bags[slot] = slot, item, bag
        self._postings.add(slot, bag.words, spelling=self._spelling)
        self._grams.add(slot, _pairs(bag))

    def _remove(self, name: str) -> None:
        slot = self._slots.pop(name)
        self._postings.remove(slot, self._bags[slot].words, spelling=self._spelling)
        self._grams.remove(slot, _pairs(self._bags[slot]))
        self._items[slot] = None
        self._free.append(slot)


def _pairs(bag: Bag) -> list[str]:
    # Letters of Latin words are left to the spelling, which says which word was meant.
    return [gram for gram in bag.grams if not gram[-1].isascii()]


def _most(reach: Reach) -> float:
    return reach.most


def _highest(totals: Mapping[int, float], saved: int) -> float:
    """The best so far, a hair less for the rounding; 0 where looking costs more than it may save."""
    return max(totals.values(), default=0.0) * _A_HAIR if len(totals) <= saved else 0.0


def _added(totals: dict[int, float], reach: Reach, *, only_known: bool) -> None:
    """Add what one term counts to the totals; `only_known` adds to items that have something already."""
    weight, slots = reach.weight, reach.slots
    if not only_known:
        get = totals.get
        for slot, impact in slots.items():
            totals[slot] = get(slot, 0.0) + weight * impact
    elif len(totals) < len(slots):
        for slot in totals:
            if slot in slots:
                totals[slot] += weight * slots[slot]
    else:
        for slot in slots:
            if slot in totals:
                totals[slot] += weight * slots[slot]
