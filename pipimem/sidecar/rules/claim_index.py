"""Older claims by their words and values: of many, the few that a newer statement may end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable

from pipimem.sidecar.rules.changes import OVERCOME, backs_out, numbers_of_subject, only_values
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.promises import is_outcome
from pipimem.text.talk.statements import (
    bare_values,
    clauses_of,
    days_of,
    matter,
    numbers_of,
    says,
    signs_of,
    values_left,
    values_of,
    words_denied,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.remembered import remembered

# Each statement is asked for its signs once for each list of older ones.
_TEXTS_READ = 4096
Numbers = frozenset[tuple[str, str]]


class ClaimIndex:
    """Places of claims in the order in which they were added.

    Without it each statement of a window would be held against each other one.
    """

    def __init__(self, claims: Iterable[Claim], words: Words) -> None:
        self._words = words
        self._numbers: list[Numbers] = []
        self._places: dict[Hashable, list[int]] = defaultdict(list)
        for claim in claims:
            self.add(claim)

    def add(self, claim: Claim) -> None:
        """Puts a claim behind the others."""
        for sign in _signs(claim.said, self._words):
            self._places[sign].append(len(self._numbers))
        self._numbers.append(_numbers_of_all(claim.said, self._words))

    def may_end(self, said: str) -> list[int]:
        """The places of claims that a statement may end, change or say to be done.

        They share a word or a value with it, and have the numbers that it tells something of, where
        each of their clauses has a number.
        """
        told = _numbers_told(said, self._words)
        if not told:
            return []
        shared = {
            place for sign in _signs(said, self._words) for place in self._places.get(sign, ())
        }
        return sorted(
            place
            for place in shared
            if not self._numbers[place] or any(some <= self._numbers[place] for some in told)
        )


@remembered(_TEXTS_READ)
def _signs(said: str, words: Words) -> frozenset[Hashable]:
    """What a statement may be found by: words, values, and what there is one of at a time."""
    signs = set[Hashable]()
    clauses = clauses_of(said, words)
    for clause in clauses:
        signs |= signs_of(matter(clause, words)) | values_of(clause)
    for text in {said, *clauses}:
        signs.update(subject for subject, _ in only_values(text, words))
    signs.update(("day", day) for _, day in days_of(said))
    signs.update(("bare", value) for value in bare_values(said))
    return frozenset(signs)


@remembered(_TEXTS_READ)
def _numbers_of_all(said: str, words: Words) -> Numbers:
    """The numbers of a statement; none where one of its clauses has none."""
    numbers = [numbers_of(clause) for clause in clauses_of(said, words)]
    return frozenset().union(*numbers) if all(numbers) else frozenset()


@remembered(_TEXTS_READ)
def _numbers_told(said: str, words: Words) -> tuple[Numbers, ...]:
    """The numbers of each thing of which a change or an end is told; empty where none is told."""
    told = [numbers_of(one) for one in clauses_of(said, words) if _tells_an_end(one)]
    if says("change", said):
        told.append(numbers_of_subject(said, words))
    if values_left(said) or words_denied(said) or backs_out(said):
        told.append(frozenset())
    return tuple(told)


def _tells_an_end(clause: str) -> bool:
    """Whether a clause says that something is done, does not take place, or is trouble no more."""
    is_over = any(says(end, clause) for _, end in OVERCOME)
    return is_over or says("cancelled", clause) or is_outcome(clause)
