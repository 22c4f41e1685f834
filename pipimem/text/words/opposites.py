"""Whether one text may stand for others, or says the opposite of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from pipimem import resources
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import (
    REWORDED,
    SimilarTexts,
    Statement,
    denials,
    names_differ,
    share_in,
    subject_grams,
    values,
)

# A tighter wording has hardly a pair of letters that the longer one has not.
_TIGHTENED = 0.8
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？、\n]")


def is_tightened(old: str, new: str) -> bool:
    """Whether `new` says `old` in fewer of its words: the same names, numbers, days and denials."""
    before, after = Statement.of(old), Statement.of(new)
    if before.numbers != after.numbers or not denies_the_same((old,), new):
        return False
    if names_differ(old, new) or values(old) != values(new):
        return False
    return share_in(after.grams, before.grams) >= _TIGHTENED


def denies_the_same(olds: Sequence[str], new: str) -> bool:
    """Return whether `new` has the denials of the texts it stands for: none more, none fewer.

    Texts that deny one thing may share their denial. A denial is kept if most of what follows it
    in its clause follows a denial on the other side, too.
    """
    before, after = [_denied(old) for old in olds], _denied(new)
    counts = [count for count, _ in before]
    if not max(counts, default=0) <= after[0] <= sum(counts):
        return False
    denied = [clause for _, clauses in before for clause in clauses]
    return _stand_in(denied, after[1]) and _stand_in(after[1], denied)


def _denied(text: str) -> tuple[int, list[str]]:
    """Return how many denials a text has, and what follows the first of each clause."""
    count, denied = 0, list[str]()
    for clause in _CLAUSE_END.split(words_said(text)):
        ends = [found.end() for found in denials().finditer(clause)]
        count += len(ends)
        denied += [clause[end:] for end in ends[:1]]
    return count, denied


def _stand_in(clauses: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether most of each clause stands in the others."""
    grams = subject_grams(" ".join(others))
    return all(share_in(subject_grams(clause), grams) >= REWORDED for clause in clauses)


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
