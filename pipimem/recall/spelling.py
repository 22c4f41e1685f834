"""The words of an index that a misspelt word may mean."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

# Shorter words have too many neighbours: "sort", "port" and "post" are three words, not one
# misspelt. One letter for another makes the most of them ("stone", "store"; "story" is "stori" as a
# stem), so there the words are longer.
_SHORTEST = 5
_SHORTEST_EXCHANGED = 7


class Spelling:
    """Words by first letter and length, for finding those that a misspelt word may mean.

    Hardly anyone misses the first letter, and one slip changes the length by one.
    """

    def __init__(self) -> None:
        self._words: dict[tuple[str, int], set[str]] = {}

    def add(self, word: str) -> None:
        """One more word that may be meant."""
        if _may_be_misspelt(word):
            self._words.setdefault((word[0], len(word)), set()).add(word)

    def remove(self, word: str) -> None:
        """A word that no item holds any longer."""
        if _may_be_misspelt(word):
            self._words[word[0], len(word)].discard(word)

    def copy(self) -> Spelling:
        """An equal one that is changed by itself."""
        other = Spelling()
        other._words = {place: words.copy() for place, words in self._words.items()}
        return other

    def near(self, word: str) -> tuple[str, ...]:
        """The known words that are one slip away from this one, in order."""
        lengths = (len(word) - 1, len(word), len(word) + 1)
        known = (self._words.get((word[0], length), ()) for length in lengths)
        return one_slip_away(word, chain.from_iterable(known))


def one_slip_away(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Those of the known words, in order, that a word may be misspelt for.

    A letter is missing, added or wrong, or two stand in each other's place.
    """
    if not _may_be_misspelt(word):
        return ()
    return tuple(sorted(each for each in known if _one_slip_apart(each, word)))


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
