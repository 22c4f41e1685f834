"""How much the words of a window weigh: rare ones say what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log

from pipimem.text.words import Words


class Weights:
    """Word weights over a set of texts; texts are read once."""

    def __init__(self, words: Words, texts: Iterable[str]) -> None:
        self._words = words
        self._bags: dict[str, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._counts.update(self.bag(text))
            self._texts += 1

    def bag(self, text: str) -> frozenset[str]:
        """The distinct words of a text."""
        known = self._bags.get(text)
        if known is None:
            known = self._bags[text] = frozenset(self._words.words(text))
        return known

    def words(self, text: str) -> list[str]:
        """The words of a text in their order."""
        return self._words.words(text)

    def weight(self, word: str) -> float:
        """How rare a word is here, from about 0.7 up."""
        return log(2 + self._texts / (1 + self._counts[word]))

    def total(self, words: Iterable[str]) -> float:
        """The weight of several words together."""
        return sum(self.weight(word) for word in words)

    def frequency(self, word: str) -> int:
        """In how many texts a word stands."""
        return self._counts[word]
