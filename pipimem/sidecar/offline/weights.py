"""How much the words of a window weigh: rare ones say what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from math import log

from pipimem.text.words import Words


class Weights:
    """Word weights over a set of texts; texts are read once. `counts` tells in how many of them a word stands."""

    def __init__(self, words: Words, texts: Iterable[str]) -> None:
        self.words = words
        self.counts: Counter[str] = Counter()
        self._bags: dict[str, frozenset[str]] = {}
        self._texts = 0
        for text in texts:
            self.counts.update(self.bag(text))
            self._texts += 1

    def bag(self, text: str) -> frozenset[str]:
        """The distinct words of a text."""
        known = self._bags.get(text)
        if known is None:
            known = self._bags[text] = frozenset(self.words.words(text))
        return known

    def names(self, people: Iterable[str]) -> frozenset[str]:
        """The words of people's names."""
        return frozenset[str]().union(*map(self.bag, people))

    def total(self, words: Iterable[str]) -> float:
        """The weight of several words together: each from about 0.7 up, the rarer it is here."""
        return sum(log(2 + self._texts / (1 + self.counts[word])) for word in words)

    def news(self, bag: frozenset[str], covered: Set[str], again: float) -> float:
        """How much words say for their number, where those `covered` before count only `again` times their weight."""
        fresh = self.total(bag - covered) + again * self.total(bag & covered)
        return fresh / float((6 + len(bag)) ** 0.75)  # a long text weighs more, but not in proportion
