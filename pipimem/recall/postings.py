"""Where words stand: word → item → what the word counts in it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from pipimem.text.words.index_words import Bag

# Shorter words have too many neighbours: "sort", "port" and "post" are three words, not one
# misspelt. One letter for another makes the most of them ("stone", "store"; "story" is "stori" as a
# stem), so there the words are longer.
_SHORTEST = 5
_SHORTEST_EXCHANGED = 7
# An identifier of parts has more letters to go wrong, and more that are right: two of its parts may
# have a slip each, those of so many letters. Digits are never mistaken for others.
_SLIPS = 2
_SHORTEST_PART = 4
_DIVIDERS = re.compile(r"[-_./]")
_DIGITS = re.compile(r"\d+")


class Spelling:
    """Words by first letter and length, for finding those that a misspelt word may mean.

    Hardly anyone misses the first letter, and one slip changes the length by one.
    """

    def __init__(self) -> None:
        self._words: dict[tuple[str, int], set[str]] = {}
        # Identifiers by what they have in common with their misspellings.
        self._identifiers: dict[tuple[str, int, str], set[str]] = {}

    def add(self, word: str) -> None:
        """One more word that may be meant."""
        if _may_be_misspelt(word):
            self._words.setdefault((word[0], len(word)), set()).add(word)
        elif _is_identifier(word):
            self._identifiers.setdefault(_shape(word), set()).add(word)

    def remove(self, word: str) -> None:
        """A word that no item holds any longer."""
        if _may_be_misspelt(word):
            self._words[word[0], len(word)].discard(word)
        elif _is_identifier(word):
            self._identifiers[_shape(word)].discard(word)

    def copy(self) -> Spelling:
        """An equal one that is changed by itself."""
        other = Spelling()
        other._words = {place: words.copy() for place, words in self._words.items()}
        other._identifiers = {place: words.copy() for place, words in self._identifiers.items()}
        return other

    def near_any(self, *words: str) -> tuple[str, ...]:
        """The known words that are one slip away from one of these, each once."""
        found = chain.from_iterable(self.near(word) for word in words if word)
        return tuple(dict.fromkeys(found))

    def near(self, word: str) -> tuple[str, ...]:
        """The known words that are one slip away from this one, in order.

        Of an identifier, those of as many parts of which at most two have a slip.
        """
        if _is_identifier(word):
            parts = _DIVIDERS.split(word)
            known_identifiers = self._identifiers.get(_shape(word), ())
            return tuple(sorted(one for one in known_identifiers if _is_meant(parts, one)))
        lengths = (len(word) - 1, len(word), len(word) + 1)
        if not _may_be_misspelt(word):
            return ()
        known = chain.from_iterable(self._words.get((word[0], length), ()) for length in lengths)
        return tuple(sorted(each for each in known if _one_slip_apart(each, word)))


def _is_identifier(word: str) -> bool:
    return word.isascii() and _DIVIDERS.search(word, 1, len(word) - 1) is not None


def _shape(identifier: str) -> tuple[str, int, str]:
    """What two identifiers have in common of which one is misspelt: digits are no slip."""
    return identifier[0], len(_DIVIDERS.findall(identifier)), "".join(_DIGITS.findall(identifier))


def _is_meant(parts: Sequence[str], identifier: str) -> bool:
    slips = 0
    for part, known in zip(parts, _DIVIDERS.split(identifier), strict=True):
        if part == known:
            continue
        slips += 1
        is_slip = min(len(part), len(known)) >= _SHORTEST_PART and _one_slip_apart(known, part)
        if slips > _SLIPS or not is_slip or any(map(str.isdigit, part + known)):
            return False
    return slips < len(parts)


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


def _one_slip_apart(a: str, b: str) -> bool:
    """Whether a letter is missing, added or wrong, or two stand in each other's place."""
    length = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), length)
    a, b = a[start:], b[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if len(a) == len(b) == 1:
        return length >= _SHORTEST_EXCHANGED
    return len(a) + len(b) == 1 or (len(a) == len(b) == 2 and a == b[::-1])


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
