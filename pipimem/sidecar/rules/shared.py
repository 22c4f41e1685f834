"""What two sentences share: words that mean something, and values of one kind."""

from __future__ import annotations

import re

from pipimem.sidecar.rules.clauses import values_of
from pipimem.sidecar.rules.patterns import first_match, general, matches, rules
from pipimem.sidecar.rules.sentences import Sentence
from pipimem.text.han import HAN
from pipimem.text.word_lists import stop_words

_WORD, _STRETCH = re.compile(r"[A-Za-z][\w'-]{2,}"), re.compile(rf"[{HAN}]{{2,}}")


def words_of(text: str) -> set[str]:
    """Latin words in small letters, without the s of a plural, and pairs of Chinese characters."""
    words = {word.casefold().rstrip("s") for word in _WORD.findall(text)}
    for stretch in _STRETCH.findall(text):
        words.update(stretch[place : place + 2] for place in range(len(stretch) - 1))
    return words


def words_shared(text: str, other: str) -> set[str]:
    """The words that both have, and that mean something."""
    return (words_of(text) & words_of(other)) - general() - stop_words()


def are_of_one_kind(before: Sentence, one: Sentence) -> bool:
    """Whether both name a day, an hour or another number: 280 grams become no 12th of the month."""
    return not kinds_of_values(before.text).isdisjoint(kinds_of_values(one.text))


def kinds_of_values(text: str) -> set[str]:
    """Of "day", "hour" and "number" what a text names; a number in letters may be any: "seven"."""
    kinds = {_kind_of_value(kind, value) for kind, value in values_of(text)}
    if kinds or not (matches("concrete", "number", text) or matches("concrete", "day", text)):
        return kinds
    return {"day", "hour", "number"}


def _kind_of_value(kind: str, value: str) -> str:
    if kind != "time":
        return "number"
    return "hour" if first_match(rules("values")["clock"], value) else "day"
