"""The inverted index of a channel: which items hold a word, and how much that counts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from pipimem.recall.evidence import Found, Reach, Term, ordered, totals_of
from pipimem.recall.items import Item, Source
from pipimem.recall.postings import HIGHEST_IMPACT, Postings
from pipimem.recall.spelling import Spelling
from pipimem.text.words import GRAM, Bag, Words

__all__ = ["Found", "Index", "Term"]

# Two characters next to each other say less than a word: they find compounds the dictionary does not know.
_GRAM_WEIGHT = 0.25
# A gram of one character: the mark and the character.
_SINGLE = len(GRAM) + 1
# As if this many items about other things stood beside: in a memory of three, a word of two of them is still
# rare.
_OTHER_ITEMS = 20
# What stands in for a word and is as common as this says nothing, and has the longest lists to go through.
_LEAST_INSTEAD = 0.15
# What a word reached through its spelling counts, against the word itself.
_MISSPELT_WEIGHT = 0.75


class Index:
    """Items by their words. Owned by whoever owns the channel, and brought up to date by difference."""

    def __init__(self, words: Words, cut: Callable[[str], Bag] | None = None) -> None:
        """`words` cut questions; texts, too, unless `cut` has another way to know their words."""
        self.words = words
        self._cut = cut or words.bag
        self._slots: dict[str, int] = {}
        self._items: dict[int, Item] = {}
        self._bags: dict[int, Bag] = {}
        self._free: list[int] = []
        self._parts: dict[str, dict[str, Item]] = {}
        self._postings = Postings()
        self._grams = Postings()
        self._spelling = Spelling()

    def __len__(self) -> int:
        return len(self._slots)

    def slots(self) -> Sequence[tuple[int, Item]]:
        """Every item with its slot."""
        return tuple(self._items.items())

    def copy(self) -> Index:
        """The same, to be changed by itself: questions that are asked meanwhile find what they found."""
        other = Index(self.words, self._cut)
        other._slots, other._items, other._bags = (
            self._slots.copy(),
            self._items.copy(),
            self._bags.copy(),
        )
        other._free, other._parts = self._free.copy(), self._parts.copy()
        other._postings, other._grams = self._postings.copy(), self._grams.copy()
        other._spelling = self._spelling.copy()
        return other

    def has_other_texts(self, items: Iterable[Item], part: str) -> bool:
        """Whether `update` would put in or take out words; what else changes of an item changes no place."""
        old = self._parts.get(part, {})
        count = 0
        for item in items:
            before = old.get(item.id)
            if before is None or (before.text, before.head) != (item.text, item.head):
                return True
            count += 1
        return count < len(old)

    def update(self, items: Iterable[Item], part: str = "") -> None:
        """Make `items` all there is of `part`; what did not change costs a look, what kept its text no cutting.

        Of equal ids the last stands.
        """
        old = self._parts.get(part, {})
        fresh = {item.id: item for item in items}
        for name in old.keys() - fresh.keys():
            self._remove(name)
        for name, item in fresh.items():
            if (before := old.get(name)) is not item and before != item:
                self._put(item, before)
        self._parts[part] = fresh

    def item(self, slot: int) -> Item:
        """The item in a slot that `search` named."""
        return self._items[slot]

    def firsts(
        self, places: Set[str], most: int, weight: Callable[[Item], tuple[float, float]]
    ) -> list[int]:
        """The slots of the `most` weightiest items of these kinds and sources, of equals the first in the index."""
        found = [
            (weight(item), -slot)
            for slot, item in self.slots()
            if item.kind in places or item.source in places
        ]
        return [-slot for _, slot in heapq.nlargest(most, found)]

    def search(
        self, terms: Sequence[Term], grams: Sequence[str] = (), *, floor: float = 0.0
    ) -> Found:
        """What the words of a question found: for each item the sum of what they count in it.

        With a `floor`, an item whose words that mean something cannot add up to it may be missing; the rest
        is exact.
        """
        reached = ordered(self._reached(terms, grams))
        return Found(reached, totals_of(reached, floor))

    def bags(self) -> Iterator[tuple[str, Bag]]:
        """Each text that can be searched, with its words; messages are left out, for they do not stay."""
        return (
            (item.searched, self._bags[slot])
            for slot, item in self.slots()
            if item.source is not Source.LOG
        )

    def bag(self, slot: int) -> Bag:
        """The words of the item in a slot."""
        return self._bags[slot]

    def _reached(self, terms: Sequence[Term], grams: Sequence[str]) -> Iterator[Reach]:
        """Each term that stands anywhere, with its weight and places; then the grams."""
        known, rarity = self._postings.by_word, self._rarity
        for term in terms:
            slots = known.get(term.word)
            others = [
                (places, share)
                for word, share in term.instead
                if (places := known.get(word) or self._elsewhere(word))
                and rarity(len(places)) * share > _LEAST_INSTEAD
            ]
            if slots is None and not others:
                unknown = (*self._misspelt(term.word), *self._within(term.word))
                others = [(places, _MISSPELT_WEIGHT) for places in unknown]
            if others:
                best = self._best(slots, others)
                yield Reach(term, term.weight, term.weight * max(best.values()), best, slots or {})
            elif slots is not None:
                weight = term.weight * rarity(len(slots))
                # A weak word never decides what comes to the floor: a bound that costs no walk will do.
                highest = HIGHEST_IMPACT if term.weak else max(slots.values())
                yield Reach(term, weight, weight * highest, slots, slots)
        known = self._grams.by_word
        for gram in grams:
            if slots := known.get(gram):
                weight = _GRAM_WEIGHT * rarity(len(slots))
                yield Reach(
                    Term(gram, weak=True), weight, weight * HIGHEST_IMPACT, slots, slots, gram=True
                )

    def _misspelt(self, word: str) -> Iterator[dict[int, float]]:
        """Where the known words stand that an unknown one may mean."""
        return (self._postings.by_word[known] for known in self._spelling.near(word))

    def _elsewhere(self, word: str) -> Mapping[int, float] | None:
        """Where a lone Han character stands, or all the words of a phrase together."""
        if word[0] == GRAM:
            return self._grams.by_word.get(word)
        return self._together(word.split(" ")) if " " in word else None

    def _together(self, words: Sequence[str]) -> Mapping[int, float] | None:
        known = [
            self._grams.by_word if word[0] == GRAM else self._postings.by_word for word in words
        ]
        if not all(word in places for word, places in zip(words, known, strict=True)):
            return None
        first, *others = sorted(
            (places[word] for word, places in zip(words, known, strict=True)), key=len
        )
        common = first
        for places in others:
            common = {
                slot: min(value, places[slot]) for slot, value in common.items() if slot in places
            }
        return common

    def _within(self, word: str) -> Iterator[dict[int, float]]:
        """Where an unknown Chinese word stands inside longer ones: a given name, half of a compound."""
        if word.isascii():
            return
        grams = [
            gram for gram in dict.fromkeys(_pairs(self.words.bag(word))) if len(gram) > _SINGLE
        ]
        if not grams or any(gram not in self._grams.by_word for gram in grams):
            return
        places = sorted((self._grams.by_word[gram] for gram in grams), key=len)
        common = {
            slot: impact
            for slot, impact in places[0].items()
            if all(slot in other for other in places[1:])
        }
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
        return math.log(1 + (total - spread + 0.5) / (spread + 0.5)) / math.log(
            1 + (total - 0.5) / 1.5
        )

    def _put(self, item: Item, before: Item | None) -> None:
        if before is not None and before.text == item.text and before.head == item.head:
            self._items[self._slots[item.id]] = item
            return
        bag = self._cut(item.searched)
        if before is not None:
            self._remove(item.id)
        slot = self._free.pop() if self._free else len(self._items)
        self._slots[item.id], self._items[slot], self._bags[slot] = slot, item, bag
        self._postings.add(slot, bag.words, spelling=self._spelling)
        self._grams.add(slot, _pairs(bag))

    def _remove(self, name: str) -> None:
        slot = self._slots.pop(name)
        bag = self._bags.pop(slot)
        self._postings.remove(slot, bag.words, spelling=self._spelling)
        self._grams.remove(slot, _pairs(bag))
        del self._items[slot]
        self._free.append(slot)


def _pairs(bag: Bag) -> list[str]:
    # Letters of Latin words are left to the spelling, which says which word was meant.
    return [gram for gram in bag.grams if not gram[-1].isascii()]
