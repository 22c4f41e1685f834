"""Whether one text may stand for others, or says the opposite of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    in its clause follows a denial on the other side, too, and no more of it stands in what the
    other side says without one.
    """
    before, after = [_Denials.of(old) for old in olds], _Denials.of(new)
    counts = [one.count for one in before]
    if not max(counts, default=0) <= after.count <= sum(counts):
        return False
    both = _Denials(
        sum(counts),
        [clause for one in before for clause in one.denied],
        [clause for one in before for clause in one.said],
    )
    return both.stand_in(after) and after.stand_in(both)


@dataclass(frozen=True, slots=True)
class _Denials:
    """How many denials a text has, what follows the first of each clause, and the other clauses."""

    count: int
    denied: list[str]
    said: list[str]

    @classmethod
    def of(cls, text: str) -> _Denials:
        count, denied, said = 0, list[str](), list[str]()
        for clause in _CLAUSE_END.split(words_said(text)):
            ends = [found.end() for found in denials().finditer(clause)]
            count += len(ends)
            denied += [clause[end:] for end in ends[:1]]
            said += [] if ends else [clause]
        return cls(count, denied, said)

    def stand_in(self, other: _Denials) -> bool:
        """Return whether most of what is denied is denied by the other, rather than said there."""
        denied, said = (subject_grams(" ".join(part)) for part in (other.denied, other.said))
        for clause in map(subject_grams, self.denied):
            share = share_in(clause, denied)
            if share < REWORDED or share < share_in(clause, said):
                return False
        return True


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
