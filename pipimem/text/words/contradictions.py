"""Which of many texts allow what another one forbids, by the words of data/words/permission.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from pipimem import resources
from pipimem.text.quotes import words_said
from pipimem.text.words.near_duplicates import SimilarTexts


def contradictions(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places, the earlier one first, of which one forbids what the other does not.

    Texts with different numbers are no such pair: a newer limit is not the opposite of the older.
    """
    said = [words_said(text) for text in texts]
    plain = [_without_permission(text) for text in said]
    forbidding = [place for place, text in enumerate(said) if _forbids(text)]
    allowing = sorted(set(range(len(said))).difference(forbidding))
    allowed = SimilarTexts(plain[place] for place in allowing)
    for place in forbidding:
        # One is enough to be told of: a text may stand there in a hundred wordings.
        found = allowed.of(plain[place]) if plain[place] else []
        if found:
            other = allowing[found[0]]
            yield min(place, other), max(place, other)


def _forbids(text: str) -> bool:
    return bool(_pattern("forbids").search(text))


def _without_permission(text: str) -> str:
    text = _pattern("forbids").sub(" ", text)
    return " ".join(_pattern("allows").sub(" ", text).split())


@cache
def _pattern(heading: str) -> re.Pattern[str]:
    words = resources.sections("words/permission")[heading]
    parts = []
    for word in words:
        escaped = re.escape(word)
        parts.append(rf"\b{escaped}\b" if word.isascii() else escaped)
    return re.compile("|".join(parts), re.IGNORECASE)
