"""Removes duplicates; of two statements on one subject the newer comes first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pipimem.notes.operations import Trust
from pipimem.recall.answer_kinds import is_mark
from pipimem.recall.candidate import Candidate
from pipimem.recall.circumstances import NAMES_THE_TIME, is_of_asked_day
from pipimem.recall.index import Index
from pipimem.recall.query import Query
from pipimem.text.quotes import Quote, of_different_people
from pipimem.text.words.index_words import Bag
from pipimem.text.words.similarity import (
    NEAR_DUPLICATE,
    jaccard,
    names_differ,
    near_duplicate,
    same_subject,
)

# A newer word on a subject that says nearly as much of what was asked is what holds. Of sentences
# that only share the subject, not the matter asked for, the lesser has about half of the score.
_NEARLY_AS_GOOD = 0.75
# Where both hold the same words of a question for a value (a time, a price), and tell one, the
# lesser is the longer sentence, or the one in the other language.
_AS_GOOD_A_VALUE = 2 / 3
# One word that is shared makes no subject.
_LEAST_HELD = 2


class _SaidOf(NamedTuple):
    """A candidate, who said it and when, and the words that were said."""

    candidate: Candidate
    quote: Quote
    bag: Bag
    words: frozenset[str]

    @property
    def is_of_person(self) -> bool:
        """Whether a person wrote the entry, or confirmed it."""
        return self.candidate.item.trust == Trust.HUMAN

    @property
    def day(self) -> str:
        """The day of the quote, else that of the entry, so written that days compare."""
        when = self.candidate.item.when
        return self.quote.day or (f"{when:%Y-%m-%d}" if when else "")


def deduped(
    candidates: Iterable[Candidate], index: Index, query: Query, most: int
) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same, with their ranks.

    Of two that say the same, the better stays. What differs in a name, a number or an identifier
    does not say the same. Who said it, and when, do not count, but that two people say it of
    themselves. A newer word on a subject comes before an older one that scored a little higher.
    """
    kept: list[_SaidOf] = []
    for candidate in candidates:
        one = _SaidOf(candidate, *index.said(candidate.slot))
        if any(_is_same(one, other) for other in kept):
            continue
        place = len(kept)
        if one.day:
            place = next(
                (place for place, other in enumerate(kept) if _is_newer(one, other, query)), place
            )
        kept.insert(place, one)
        if len(kept) == most:
            break
    return tuple(one.candidate._replace(rank=rank) for rank, one in enumerate(kept, start=1))


def _is_same(one: _SaidOf, other: _SaidOf) -> bool:
    # The share of common words settles it nearly always, and costs the least.
    if jaccard(one.words, other.words) <= NEAR_DUPLICATE or of_different_people(
        one.quote, other.quote
    ):
        return False
    if one.quote.said == other.quote.said:
        return True
    return near_duplicate(one.bag, other.bag) and not names_differ(one.quote.said, other.quote.said)


def _is_newer(one: _SaidOf, other: _SaidOf, query: Query) -> bool:
    """Whether `one` was said on a later day than `other`, of the same subject.

    Never where the question asks for the earlier day, nor where only the earlier one is a person's
    own entry.
    """
    if not other.day or one.day <= other.day:
        return False
    if other.is_of_person and not one.is_of_person:
        return False
    if is_of_asked_day(other.candidate.item, query):
        return False
    share = one.candidate.score / other.candidate.score
    if share >= _AS_GOOD_A_VALUE and _tell_what_is_asked(one, other, query):
        return True
    return share >= _NEARLY_AS_GOOD and same_subject(other.quote.said, one.quote.said)


def _tell_what_is_asked(one: _SaidOf, other: _SaidOf, query: Query) -> bool:
    """Whether both tell a thing of the kind that is asked for: a time, an amount of money.

    `one` must hold each word of the question that `other` holds.
    """
    first, second = one.candidate, other.candidate
    held = _strong_places(second)
    if first.matches < second.matches or len(held) < _LEAST_HELD:
        return False
    if not all(first.values[place] for place in held):
        return False
    if any(is_mark(second.names[place]) for place in held):
        return True
    names_times = [NAMES_THE_TIME in dict(each.circumstances) for each in (first, second)]
    return query.asks_when and all(names_times)


def _strong_places(candidate: Candidate) -> list[int]:
    """Where the words of a question that mean something stand among those that an item holds."""
    values = candidate.values[: candidate.strong]
    return [place for place, value in enumerate(values) if value]
