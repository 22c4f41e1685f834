"""A question as search looks for it: groups of words, people, days, and what the answer has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, time
from itertools import chain
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.message import Role
from pipimem.recall.phrases import says, weak_words
from pipimem.recall.postings import pairs
from pipimem.recall.query import both_ends
from pipimem.recall.scoring import Term
from pipimem.recall.synonyms import Synonyms
from pipimem.recall.transcript.transcript_index import (
    SHAPELESS,
    Formula,
    Shape,
    TranscriptIndex,
    wanted,
)
from pipimem.text.dates import Span, mentioned
from pipimem.text.word_lists import stop_words

# What a word counts that a misspelt one may mean.
_MISSPELT = 0.75
# A given name alone names a person; shorter ones are words.
_SHORTEST_NAME = 3


class Group(NamedTuple):
    """One word of the question, what it counts, and what may stand for it, with shares."""

    name: str
    weight: float
    members: tuple[tuple[str, float], ...]


class TranscriptQuery(Struct, frozen=True):
    """What to look for in a transcript.

    `people` are numbers of the index's speakers, `only_people` says that it is nothing but them.
    In a talk with a bot, `answered_by` is the role in which the answer was most likely said.
    """

    groups: tuple[Group, ...]
    people: frozenset[int] = frozenset()
    spans: tuple[Span, ...] = ()
    wanted: Shape = SHAPELESS
    only_people: bool = False
    answered_by: Role | None = None


def query_of(
    text: str, index: TranscriptIndex, *, now: datetime, synonyms: Synonyms, formula: Formula
) -> TranscriptQuery:
    """The query of a text.

    Days without a year, or counted from today, are those of the talk if none is of now's.
    """
    text = both_ends(text)
    bag = index.words.bag(text)
    said = dict.fromkeys(bag.words)
    people = frozenset(_named(text, index.speakers))
    spans = _spans(text, index, now)
    names = _words_of(people, index)
    words = [word for word in said if word not in names]
    only_people = bool(people) and not words and not spans
    if only_people:
        words = list(said)
    # Single characters are among the pairs.
    written = index.words.written(text)
    asked = [Term(word, written=written.get(word, "")) for word in words]
    terms = [(term, 1.0) for term in synonyms.added(asked)]
    terms += [(Term(gram), formula.pairs) for gram in dict.fromkeys(pairs(bag))]
    groups = _groups(terms, index, said, formula)
    return TranscriptQuery(
        tuple(groups), people, spans, wanted(text), only_people, _answered_by(text)
    )


def _answered_by(text: str) -> Role | None:
    """Return who a question asks about: the bot if it asks what "you" said; None for a summary."""
    if says("summary", text):
        return None
    return "assistant" if says("said by the listener", text) else "user"


def of_person(query: TranscriptQuery, index: TranscriptIndex, name: str) -> TranscriptQuery:
    """The query asked of somebody besides whom it names; as it is if they said nothing here."""
    found = [number for number, one in enumerate(index.speakers) if name and one == name]
    return replace(query, people=query.people.union(found))


def _words_of(people: Iterable[int], index: TranscriptIndex) -> frozenset[str]:
    names = [index.words.words(index.speakers[person]) for person in people]
    return frozenset(chain.from_iterable(names))


def _groups(
    terms: Iterable[tuple[Term, float]],
    index: TranscriptIndex,
    said: Collection[str],
    formula: Formula,
) -> Iterator[Group]:
    common = weak_words("common")
    for term, weight in terms:
        weight *= formula.common if term.word in common else 1.0
        yield Group(term.word, weight, tuple(_members(term, index, said)))


def _named(text: str, speakers: Iterable[str]) -> Iterator[int]:
    """The speakers whose name, or given name, stands in the text."""
    folded = text.casefold()
    for number, speaker in enumerate(speakers):
        if speaker and any(_stands(name, text, folded) for name in {speaker, *speaker.split()[:1]}):
            yield number


def _stands(name: str, text: str, folded: str) -> bool:
    """Whether a name stands in a text; one that is also a word (Will, May, Al) as it is written."""
    low = name.casefold()
    if low not in folded:
        return False
    if not name.isascii():
        return True
    if len(name) < _SHORTEST_NAME or low in stop_words() or low in weak_words("common"):
        found = re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text)
    else:
        found = re.search(rf"(?<![a-z]){re.escape(low)}(?![a-z])", folded)
    return found is not None


def _spans(text: str, index: TranscriptIndex, now: datetime) -> tuple[Span, ...]:
    spans = mentioned(text, now)
    newest = index.newest_day
    is_in_talk = any(True for span in spans for _ in index.within(span.start, span.end))
    if not spans or newest is None or is_in_talk:
        return spans
    return mentioned(text, datetime.combine(newest, time(12), now.tzinfo))


def _members(
    term: Term, index: TranscriptIndex, said: Collection[str]
) -> Iterator[tuple[str, float]]:
    """The word itself and what may stand in its place, each with its share.

    Of a word that no message holds, also the words it may be misspelt for.
    """
    yield term.word, 1.0
    others = [(word, share) for word, share in term.instead if share and word not in said]
    yield from others
    if not any(index.places(word) for word, _ in ((term.word, 1.0), *others)):
        taken = {word for word, _ in others}.union(said)
        for word in index.near(term.word, term.written):
            if word not in taken:
                yield word, _MISSPELT
