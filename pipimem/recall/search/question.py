"""A question as search looks for it: groups of words, people, days, and what the answer has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from typing import NamedTuple

from pipimem.recall.index import Term
from pipimem.recall.refinement import both_ends
from pipimem.recall.search.formula import Formula
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.shapes import SHAPELESS, Shape, wanted
from pipimem.recall.synonyms import Synonyms
from pipimem.recall.weak_words import COMMON_WORDS
from pipimem.text.dates import Span, mentioned
from pipimem.text.stopwords import STOP_WORDS

# What a word counts that a misspelt one may mean.
_MISSPELT = 0.75
# A given name alone names a person; shorter ones are words.
_SHORTEST_NAME = 3


class Group(NamedTuple):
    """One word of the question, what it counts, and all words that answer for it with their share."""

    name: str
    weight: float
    members: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for; `people` are numbers of the index's speakers, `only_people` says that it is nothing but them."""

    groups: tuple[Group, ...]
    people: frozenset[int] = frozenset()
    spans: tuple[Span, ...] = ()
    wanted: Shape = SHAPELESS
    only_people: bool = False


def asked(
    text: str, index: TranscriptIndex, *, now: datetime, synonyms: Synonyms, formula: Formula
) -> Question:
    """The question of a text; days without a year, or counted from today, are those of the talk if none is of now's."""
    text = both_ends(text)
    bag = index.words.bag(text)
    people = frozenset(_named(text, index.speakers))
    names = {word for person in people for word in index.words.words(index.speakers[person])}
    spans = _spans(text, index, now)
    words = [word for word in dict.fromkeys(bag.words) if word not in names]
    only_people = bool(people) and not words and not spans
    if only_people:
        words = list(dict.fromkeys(bag.words))
    known = frozenset(bag.words)
    groups = [
        Group(term.word, 1.0, tuple(_members(term, index, known)))
        for term in synonyms.added(
            [Term(word) for word in words]
        )  # single characters are among the grams
    ]
    grams = (gram for gram in dict.fromkeys(bag.grams) if not gram[-1].isascii())
    groups += [
        Group(gram, formula.pairs, tuple(_members(Term(gram), index, known))) for gram in grams
    ]
    return Question(tuple(groups), people, spans, wanted(text), only_people)


def _named(text: str, speakers: Iterable[str]) -> Iterator[int]:
    """The speakers whose name, or given name, stands in the text."""
    folded = text.casefold()
    for number, speaker in enumerate(speakers):
        if speaker and any(_stands(name, text, folded) for name in {speaker, *speaker.split()[:1]}):
            yield number


def _stands(name: str, text: str, folded: str) -> bool:
    low = name.casefold()
    if low not in folded:
        return False
    if not name.isascii():
        return True
    if len(name) < _SHORTEST_NAME or low in STOP_WORDS or low in COMMON_WORDS:
        return bool(
            re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text)
        )  # Will, May, Al: as they are written
    return bool(re.search(rf"(?<![a-z]){re.escape(low)}(?![a-z])", folded))


def _spans(text: str, index: TranscriptIndex, now: datetime) -> tuple[Span, ...]:
    spans = mentioned(text, now)
    newest = index.newest_day
    if (
        not spans
        or newest is None
        or any(True for span in spans for _ in index.within(span.start, span.end))
    ):
        return spans
    return mentioned(text, datetime.combine(newest, time(12), now.tzinfo))


def _members(
    term: Term, index: TranscriptIndex, known: frozenset[str]
) -> Iterator[tuple[str, float]]:
    """The word itself and what may stand in its place; of a word that nobody said, what was likely meant."""
    yield term.word, 1.0
    taken = {term.word, *known}
    found = bool(index.places(term.word))
    for word, share in term.instead:
        if share and word not in taken:
            taken.add(word)
            found = found or bool(index.places(word))
            yield word, share
    if not found:
        yield from ((word, _MISSPELT) for word in index.near(term.word) if word not in taken)
