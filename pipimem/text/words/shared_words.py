"""How much each of many texts shares with a long one, by the rarity of the words they share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified, stop_words
from pipimem.text.words.index_words import Stemmer

# Of numbers those of a year, a port or a price; the two digits of a day stand everywhere.
_STRETCH = Pattern(rf"(?P<han>[{HAN}]+)|[^\W\d_{HAN}]{{2,}}|\d{{3,}}")


def shared_words(texts: Sequence[str], long: str) -> list[float]:
    """For each text the weight of its words that stand in `long` too, by the root of its length.

    A word weighs `log(1 + n / df)`, where `df` of the `n` texts and lines of `long` have it: a name
    that stands in all of them says little. Chinese counts by pairs of characters, which need no
    dictionary.
    """
    stemmer = Stemmer()
    bags = [_words(text, stemmer) for text in texts]
    lines = [_words(line, stemmer) for line in long.splitlines()]
    spread = Counter(chain.from_iterable(chain(bags, lines)))
    wanted = frozenset().union(*lines)
    count = len(bags) + len(lines)
    weights: list[float] = []
    for bag in bags:
        shared = sum(math.log(1 + count / spread[word]) for word in sorted(bag & wanted))
        weights.append(shared / math.sqrt(len(bag) or 1))
    return weights


def _words(text: str, stemmer: Stemmer) -> frozenset[str]:
    found: set[str] = set()
    for stretch in _STRETCH().finditer(simplified(text).casefold()):
        if stretch["han"]:
            found.update("".join(pair) for pair in pairwise(stretch[0]))
        elif stretch[0] not in stop_words():
            found.add(stemmer.stem(stretch[0]))
    return frozenset(found)
