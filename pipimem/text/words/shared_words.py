"""The words that texts share: how much of each stands in a long one, and what is new in one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified, stop_words
from pipimem.text.words.index_words import Stemmer
from pipimem.text.words.similarity import denials

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


def shares_new_words(old: str, new: str, said: Iterable[str]) -> bool:
    """Return whether texts that were `said` have a word that `new` has and `old` has not.

    If `new` has no such word (a denial, the order or a word of grammar is all that changed), any
    word of `new` counts.
    """
    stemmer = Stemmer()
    words = _words(denials().sub(" ", new), stemmer)
    wanted = words - _words(old, stemmer) or words
    return any(wanted & _words(text, stemmer) for text in said)


def _words(text: str, stemmer: Stemmer) -> frozenset[str]:
    found: set[str] = set()
    for stretch in _STRETCH().finditer(simplified(text).casefold()):
        if stretch["han"]:
            found.update("".join(pair) for pair in pairwise(stretch[0]))
        elif stretch[0] not in stop_words():
            found.add(stemmer.stem(stretch[0]))
    return frozenset(found)
