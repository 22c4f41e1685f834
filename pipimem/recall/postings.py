"""Where words stand: word → item → what the word counts in it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipimem.recall.spelling import Spelling
from pipimem.text.words.index_words import Bag

# BM25 with its usual saturation. Items are short, so a longer one is hardly ever about more things:
# a small `b`. The length is held against a fixed one and not the channel's mean, so that an impact
# once computed stays true.
_K1 = 1.2
_B = 0.2
_USUAL_LENGTH = 16
# A long message or section may hold one sentence that matters: beyond this length it is punished no
# further.
_LONG = 6 * _USUAL_LENGTH
# No count comes above it.
HIGHEST_IMPACT = _K1 + 1

_NO_POSTINGS: Mapping[int, float] = {}


def impact(count: int, length: int) -> float:
    """BM25's saturated count of a word that stands `count` times among `length` words."""
    norm = _K1 * (1 - _B + _B * min(length, _LONG) / _USUAL_LENGTH)
    return count * (_K1 + 1) / (count + norm)


def rarity(spread: int, total: int) -> float:
    """IDF of a word that `spread` of `total` texts hold, 1 for a word of one text."""
    spread = min(spread, total)
    return math.log(1 + (total - spread + 0.5) / (spread + 0.5)) / math.log(
        1 + max(total - 0.5, 1.0) / 1.5
    )


def pairs(bag: Bag) -> list[str]:
    """The Chinese grams of a text; misspelt Latin words are found by `Spelling` instead."""
    return [gram for gram in bag.grams if not gram[-1].isascii()]


class Postings:
    """Word → slot → impact, the saturated count of the word in the item of that slot.

    `spelling` knows the words by which misspelt ones are found.
    """

    def __init__(self) -> None:
        self.by_word: dict[str, dict[int, float]] = {}
        self.spelling = Spelling()

    def add(self, slot: int, words: Sequence[str]) -> None:
        """Take in the words of an item; `spelling` learns those that are new."""
        length, once = len(words), impact(1, len(words))
        by_word = self.by_word
        for word in words:
            slots = by_word.get(word)
            if slots is None:
                slots = by_word[word] = {}
                self.spelling.add(word)
            slots[slot] = once
        if len(set(words)) < length:
            for word, count in Counter(words).items():
                if count > 1:
                    by_word[word][slot] = impact(count, length)

    def remove(self, slot: int, words: Iterable[str]) -> None:
        """Forget the words of an item."""
        for word in set(words):
            slots = self.by_word[word]
            del slots[slot]
            if not slots:
                del self.by_word[word]
                self.spelling.remove(word)

    def copy(self) -> Postings:
        """An equal one that is changed by itself."""
        other = Postings()
        other.by_word = {word: slots.copy() for word, slots in self.by_word.items()}
        other.spelling = self.spelling.copy()
        return other

    def together(self, words: Iterable[str]) -> Mapping[int, float]:
        """Where all of some words stand, with the least of what they count there."""
        common, *others = sorted((self.by_word.get(word, _NO_POSTINGS) for word in words), key=len)
        for places in others:
            common = {
                slot: min(value, places[slot]) for slot, value in common.items() if slot in places
            }
        return common
