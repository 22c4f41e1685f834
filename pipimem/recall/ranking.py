"""The order of what was found: evidence first, and how things stand as a small factor."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property, reduce
from operator import add, itemgetter
from typing import NamedTuple

from pipimem.notes.kinds import Kind
from pipimem.recall.evidence import Found, Reach
from pipimem.recall.explaining import Part, scored
from pipimem.recall.index import Index
from pipimem.recall.intents import ANSWERED_BY, BONUS, Intent, answers
from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import NAMES_A_TIME
from pipimem.recall.refinement import Query
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness
from pipimem.text.quotes import words_said

# A word that stands in one item counts 1 and a little, one in a sixteenth of 5,000 items a third. Chosen so:
# of 600 messages of ordinary talk, English and Chinese, 98 to 99 % find nothing in memories of 50, 500 and
# 5,000 entries they have nothing to do with; from 0.35 to 0.6 that moves by a point. The weakest gold entry
# there has 0.43; at 0.75 four of a hundred are lost.
FLOOR = 0.4
# An item of the section that was asked for needs a word in common, but a commoner one will do.
SEED_FLOOR = 0.25
# Out of this many words that mean something, one plain word that also stands somewhere is chance: "nice job,
# your painting looks peaceful" is not about the sync job. A name of parts or a quoted one is not plain.
# Without this a third of ordinary English talk finds something; with 6 it is 3 %, with 5 one or two, with 4
# one, and the first typos in gold questions are lost.
_LONE_AMONG = 5
# What is not said but meant (a word of the thesaurus) is chance sooner in a long message: beyond this many words that
# mean something, it counts for the floor by their share. On 600 messages of ordinary talk this takes back two thirds of
# what three thousand groups of synonyms let through; no question of the hand-written sets is lost by it.
_FEW_WORDS = 4
# Nor is a lone word much of a question that resembles small talk more than what people ask a memory, where the entry is not
# near to it either (`vectors.Nearness`).
_LIKE_TALK = -0.008
_NOT_NEAR = -0.02
# What has the form of a question about the world at large must mean an entry all the more surely.
_SURER = 0.02
# Far behind the best, an item shares its common words only.
_SHARE_OF_BEST = 0.3
# What happened stands in history; so many of its newest bullets are looked through for a day.
_HAPPENED = frozenset((Source.HISTORY,))
_DAYS_BACK = 2_000
# What a question that is nothing but an intent finds in the section that answers it.
_ASKED_FOR = 1.0
# What speaks for an item beside its words.
_BESIDE_WORDS = ("pairs of characters", "near in meaning")

_SESSION_PRIORITY: Mapping[str, float] = {
    "Current State": 18,
    "Next Steps": 18,
    "User Intent": 16,
    "Errors & Corrections": 16,
    "Constraints": 15,
    "Decisions": 15,
    "Active Files": 14,
    "Session Title": 13,
}
_MEMORY_PRIORITY: Mapping[str, float] = {
    Kind.CONSTRAINT: 11,
    Kind.DECISION: 11,
    Kind.PREFERENCE: 10,
    Kind.OPEN_LOOP: 10,
    Kind.IDENTITY: 9,
    Kind.ONGOING: 9,
    Kind.LESSON: 9,
}
_PRIORITY: Mapping[Source, float] = {
    Source.SESSION: 12,
    Source.MEMORY: 8,
    Source.WORKSPACE: 6,
    Source.HISTORY: 4,
    Source.LOG: 4,
}
_RECENCY = ((timedelta(days=1), 6.0), (timedelta(days=7), 4.0), (timedelta(days=30), 2.0))
# A date in the question that is the item's own says as much as a good circumstance, never as much as a word.
_SAME_DATE = 8.0
# Whoever asks when wants an item that names a time: that is half an answer, where the other circumstances only lean.
_NAMES_A_TIME = 50.0
# Trust and access move a score by 10 hundredths at most, together.
_TRUST: Mapping[str, float] = {"human": 5, "explicit": 5, "inferred": 0, "probation": -5}
_ACCESS_MOST = 5


class Candidate(NamedTuple):
    """An item that was found: its score, how many words it shares, its rank from 1 once known.

    `values` are what spoke for it, by `names`, 0.0 for what did not; `lifts` are what its place adds to their sum: what,
    which, and hundredths of it. A tuple, for a turn makes two dozen and a frozen class costs four times that.
    """

    item: Item
    score: float
    matches: int
    slot: int
    names: Sequence[str] = ()
    values: Sequence[float] = ()
    lifts: Sequence[tuple[str, str, float]] = ()
    rank: int = 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that add up to the score, from left to right; put together only for who asks why."""
        evidence = [
            Part(name, value) for name, value in zip(self.names, self.values, strict=True) if value
        ]
        total = scored(evidence)
        return (
            *evidence,
            *(
                Part(f"{what} {which}".rstrip(), total * part / 100)
                for what, which, part in self.lifts
            ),
        )


def ranked(
    index: Index,
    query: Query,
    now: datetime,
    *,
    most: int,
    floor: float = FLOOR,
    nearness: Nearness = FAR_FROM_ALL,
) -> tuple[Candidate, ...]:
    """What is above the floor, best first; the order is total: score, matches, priority, title.

    The `most` with the strongest evidence are looked at. Circumstances lift a score by less than half, so
    with twice as many as are wanted, what is left out would not have come to the front. What is surely near in meaning needs no word in common; a question that is nothing but its
    intents is answered by its section alone, one for nothing but days by what happened then.
    """
    found = _by_evidence(index, query, now, most, floor, nearness)
    if query.of_days and (those := _of_days(index, query, now, most)):
        found = those
    elif query.pure:
        found |= _by_intent(index, query, now, most)
    else:
        surer = _SURER if nearness.sure and query.is_general() else 0.0
        if sure := [slot for slot in nearness.surely(surer) if slot not in found]:
            searched = index.search(query.terms, query.grams)
            found |= _Weighing(index, searched, query, now, nearness=nearness).candidates(sure)
    return tuple(sorted(found.values(), key=_place))


def priority(item: Item) -> float:
    """What the place of an item is worth, in hundredths of its evidence (DESIGN §8)."""
    lowest = _PRIORITY[item.source]
    match item.source:
        case Source.SESSION:
            return _SESSION_PRIORITY.get(item.kind, lowest)
        case Source.MEMORY:
            return _MEMORY_PRIORITY.get(item.kind, lowest)
        case _:
            return lowest


def structure(item: Item, query: Query, now: datetime) -> list[tuple[str, str, float]]:
    """How an item stands to the question beside its words: what, which, and the hundredths of its evidence."""
    lifts: list[tuple[str, str, float]] = [("source", item.source, priority(item))]
    for intent in query.intents:
        if answers(item, intent):
            lifts.append(("intent", intent, BONUS[intent]))
            break  # one section answers; a second cue for it says nothing new
    if item.when is not None:
        age = now - item.when
        if bonus := next((bonus for span, bonus in _RECENCY if age <= span), 0.0):
            lifts.append(("recent", "", bonus))
        if _is_of(item, query):
            lifts.append(("date asked for", "", _SAME_DATE))
    if query.asks_when and NAMES_A_TIME().search(words_said(item.text)):
        lifts.append(("names a time", "", _NAMES_A_TIME))
    if trust := _TRUST.get(item.trust, 0.0):
        lifts.append(("trust", item.trust, trust))
    if item.recalls:
        lifts.append(("recalled before", "", float(min(item.recalls, _ACCESS_MOST))))
    return lifts


def _by_evidence(
    index: Index,
    query: Query,
    now: datetime,
    most: int,
    floor: float,
    nearness: Nearness,
) -> dict[int, Candidate]:
    seed_floor = min(floor, SEED_FLOOR)
    least_of_all = seed_floor if query.intents else floor
    if query.asks_when:
        most *= 2  # what names a time may come from further behind
    found = index.search(query.terms, query.grams, floor=least_of_all)
    least = _SHARE_OF_BEST * max(found.totals.values(), default=0.0) if floor else 0.0
    strong = [(slot, evidence) for slot, evidence in found.totals.items() if evidence >= least]
    strongest = [slot for slot, _ in heapq.nlargest(most, strong, key=itemgetter(1))]
    weighed = _Weighing(index, found, query, now, nearness=nearness)
    if not floor:
        return weighed.candidates(strongest)
    kept: dict[int, Candidate] = {}
    for slot in strongest:
        values = weighed.values(slot)
        seeded = query.intents and any(
            answers(index.item(slot), intent) for intent in query.intents
        )
        if weighed.is_evidence(slot, values, seed_floor if seeded else floor):
            kept[slot] = weighed.candidate(slot, values)
    return kept


def _by_intent(index: Index, query: Query, now: datetime, most: int) -> dict[int, Candidate]:
    """What stands where the question is answered; of very much, the weightiest and newest."""
    weighed = _Weighing(index, index.search(query.terms), query, now, query.intents[0])
    places = frozenset[str]().union(*(ANSWERED_BY[intent] for intent in query.intents))
    return weighed.candidates(index.firsts(places, most, _newest_weightiest))


def _of_days(index: Index, query: Query, now: datetime, most: int) -> dict[int, Candidate]:
    """What history has of the days that were asked for."""
    weighed = _Weighing(index, index.search(query.terms), query, now, Intent.HISTORY)
    slots = index.firsts(_HAPPENED, _DAYS_BACK, _newest_weightiest)
    return weighed.candidates([slot for slot in slots if _is_of(index.item(slot), query)][:most])


def _is_of(item: Item, query: Query) -> bool:
    return item.when is not None and any(
        span.start <= item.when.date() <= span.end for span in query.spans
    )


def _newest_weightiest(item: Item) -> tuple[float, float]:
    return priority(item), _since(item)


class _Weighing:
    """The words of one question, laid out for weighing item after item."""

    def __init__(
        self,
        index: Index,
        found: Found,
        query: Query,
        now: datetime,
        asked: str = "",
        nearness: Nearness = FAR_FROM_ALL,
    ) -> None:
        self._index = index
        words = [reach for reach in found.reached if not reach.gram]
        self._words = (*words, *[reach for reach in found.reached if reach.gram])
        self._places = [(reach.weight, reach.slots.get) for reach in self._words]
        self._strong = sum(
            [not reach.term.weak for reach in words]
        )  # what means something stands first
        self._plain = len(words)
        self._names = [f"asked for {asked}", *[reach.term.word for reach in words], *_BESIDE_WORDS]
        self._asked_for = sum([not term.weak for term in query.terms])
        self._may_be_talk = self._asked_for > 1 and nearness.lead < _LIKE_TALK
        self._query, self._now, self._asked, self._nearness = query, now, asked, nearness

    def candidates(self, slots: Iterable[int]) -> dict[int, Candidate]:
        """The items of some slots with their scores, by slot."""
        return {slot: self.candidate(slot, self.values(slot)) for slot in slots}

    def is_evidence(self, slot: int, values: Sequence[float], floor: float) -> bool:
        """Whether the words that mean something add up to the floor, and are not one plain word out of many."""
        strong = values[: self._strong]
        if reduce(add, strong, 0.0) < floor:
            return False
        hit = [(reach, value) for reach, value in zip(self._words, strong, strict=False) if value]
        if len(hit) == 1 and self._may_be_chance(hit[0][0], slot):
            lone = hit[0][0].term
            return lone.weight > 1 or not lone.word.isalpha()
        if self._asked_for <= _FEW_WORDS:
            return True
        share = _FEW_WORDS / self._asked_for
        return (
            sum([value if slot in reach.said else value * share for reach, value in hit]) >= floor
        )

    def _may_be_chance(self, lone: Reach, slot: int) -> bool:
        """Whether a lone word says nothing: out of many, of talk, in a question about anything, or meant by who only tells."""
        if self._asked_for >= _LONE_AMONG or self._seems_talk(slot) or self._is_general:
            return True
        return slot not in lone.said and self._is_told

    def _seems_talk(self, slot: int) -> bool:
        return (
            self._may_be_talk
            and self._nearness.margins.get(slot, 0.0) + self._nearness.lead < _NOT_NEAR
        )

    @cached_property
    def _is_general(self) -> bool:
        return self._query.is_general()

    @cached_property
    def _is_told(self) -> bool:
        return self._query.is_told()

    def values(self, slot: int) -> list[float]:
        """What each word counts in an item."""
        return [weight * impact if (impact := get(slot)) else 0.0 for weight, get in self._places]

    def candidate(self, slot: int, values: Sequence[float]) -> Candidate:
        """The item with its score: its words, pairs of characters and meaning, then the share of them its place gives."""
        item = self._index.item(slot)
        words, grams = values[: self._plain], reduce(add, values[self._plain :], 0.0)
        evidence = [_ASKED_FOR if self._asked else 0.0, *words, grams, self._nearness.value(slot)]
        total = reduce(add, evidence)
        score = total
        lifts = structure(item, self._query, self._now)
        for _, _, hundredths in lifts:
            score += total * hundredths / 100
        return Candidate(
            item, score, self._plain - words.count(0.0), slot, self._names, evidence, lifts
        )


def _since(item: Item) -> float:
    return item.when.timestamp() if item.when else 0.0


def _place(candidate: Candidate) -> tuple[float, int, float, int, str, str]:
    item = candidate.item
    return -candidate.score, -candidate.matches, -priority(item), item.place, item.section, item.id
