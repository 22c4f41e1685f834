"""Whether one text holds every word of a short question: then it is an answer, however few."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from msgspec import Struct

from pipimem.recall.phrases import phrases, weak_words
from pipimem.text.characters import HAN, has_han
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified
from pipimem.text.words.index_words import Words

# With a lone letter in front: "X光", "B超".
_HAN_RUN = Pattern(rf"(?:(?<![A-Za-z0-9])[A-Za-z])?[{HAN}]+")
# More words than these are a sentence.
_MOST_WORDS = 6
# One Chinese character, or one letter, is no thing by itself.
_SHORTEST = 2


class QuestionWords(Struct, frozen=True):
    """What a question names, without the words by which it asks.

    Chinese stays in runs of characters: "小李哪天生日" is cut elsewhere than "小李生日".
    """

    runs: tuple[str, ...]
    words: frozenset[str]

    def all_stand_in(self, text: str, bag: Collection[str], words: Words) -> bool:
        """Return whether a text with these index words holds all of them; False if there is none.

        A run of Chinese stands in it as it is, or by its words.
        """
        if not (self.runs or self.words) or not self.words.issubset(bag):
            return False
        folded = _folded(text)
        return all(run in folded or _words_stand_in(run, bag, words) for run in self.runs)


def question_words(question: str, words: Words) -> QuestionWords:
    """Return what a question names; nothing if that is only what all speak of."""
    common = weak_words("common", "asking")
    text = phrases("asked for").sub(" ", _common_runs().sub(" ", _folded(question)))
    runs = tuple(run for run in _HAN_RUN().findall(text) if run not in common)
    others = frozenset(words.words(_HAN_RUN().sub(" ", text))) - common
    if all(len(thing) < _SHORTEST for thing in (*runs, *others)):
        return QuestionWords((), frozenset())
    return QuestionWords(runs, others)


def is_noun_phrase(text: str, words: Words) -> bool:
    """Return whether a text is two words or a few more, all of which mean something: 发票抬头."""
    found = words.words(text)
    if not 1 < len(found) <= _MOST_WORDS:
        return False
    han = sum(map(len, _HAN_RUN().findall(text)))
    others = _HAN_RUN().sub(" ", text).split()
    return sum(map(len, filter(has_han, found))) >= han and all(map(words.words, others))


def _words_stand_in(run: str, bag: Collection[str], words: Words) -> bool:
    found = words.words(run)
    return bool(found) and all(word in bag for word in found)


@cache
def _common_runs() -> re.Pattern[str]:
    """Return a pattern of the Chinese words that are common in any talk, the longest first."""
    common = [word for word in weak_words("common", "asking") if len(word) > 1 and has_han(word)]
    return re.compile("|".join(sorted(common, key=lambda word: (-len(word), word))))


def _folded(text: str) -> str:
    return simplified(text.casefold())
