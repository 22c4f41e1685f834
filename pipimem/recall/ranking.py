"""The order of what was found: evidence first, circumstances as a small factor."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property, reduce
from operator import add, attrgetter, itemgetter

from pipimem.recall.candidate import Candidate
from pipimem.recall.circumstances import circumstances, is_of_asked_day, priority
from pipimem.recall.index import Index
from pipimem.recall.intents import ANSWERED_BY, Intent, answers
from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import says
from pipimem.recall.refinement import Query
from pipimem.recall.scoring import MatchedTerm, Matches
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness

# A word that stands in one item counts 1 and a little, one in a sixteenth of 5,000 items a third.
# Chosen so: of 600 messages of ordinary talk, English and Chinese, 98 to 99 % find nothing in
# memories of 50, 500 and 5,000 entries they have nothing to do with; from 0.35 to 0.6 that moves by
# a point. The weakest gold entry there has 0.43; at 0.75 four of a hundred are lost.
FLOOR = 0.4
# An item of the section that was asked for needs a word in common, but a commoner one will do.
SEED_FLOOR = 0.25
# Out of this many words that mean something, one plain word that also stands somewhere is chance:
# "nice job, your painting looks peaceful" is not about the sync job. A name of parts or a quoted
# one is not plain. Without this a third of ordinary English talk finds something; with 6 it is 3 %,
# with 5 one or two, with 4 one, and the first typos in gold questions are lost.
_LONE_AMONG = 5
# What is not said but meant (a word of the thesaurus) is chance sooner in a long message: beyond
# this many words that mean something, it counts for the floor by their share. On 600 messages of
# ordinary talk this takes back two thirds of what three thousand groups of synonyms let through; no
# question of the hand-written sets is lost by it.
_FEW_WORDS = 4
# Nor is a lone word much of a question that resembles small talk more than what people ask a
# memory, where the entry is not near to it either (`vectors.Nearness`).
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
# A word that stands in no item as it is said counts so much more in the order: what it means in
# other words, or another language, is all there is of it. Else "订" alone comes before the hotel
# that was booked, in a question for 酒店. For the floor it counts as it is, or more talk would find
# something.
_NOWHERE_LITERAL = 1.6
# What speaks for an item beside its words.
_BESIDE_WORDS = ("pairs of characters", "near in meaning")


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

    The `most` with the strongest evidence are looked at. Circumstances raise a score by less than
    half, so with twice as many as are wanted, what is left out would not have come to the front.
    What is surely near in meaning needs no word in common; a question that is nothing but its
    intents is answered by its section alone, one for nothing but days by what happened then.
    """
    lowest = min(floor, SEED_FLOOR) if query.intents else floor
    found = index.search(query.terms, query.grams, floor=lowest)
    scorer = _Scorer(index, found, query, now, nearness)
    of_days = _of_days(index, query, most) if query.of_days else ()
    if of_days:
        candidates = scorer.candidates(of_days, Intent.HISTORY)
    else:
        candidates = _by_evidence(scorer, found, most, floor)
        if query.pure:
            candidates |= scorer.candidates(_by_intent(index, query, most), query.intents[0])
        elif query.as_usual:
            tastes = _tastes(index, query, most)
            candidates |= scorer.candidates(tastes, Intent.PREFERENCES)
        else:
            theirs = _said_by(index, query, most)
            candidates |= scorer.candidates(theirs, "their words")
            surer = _SURER if nearness.sure and query.is_general() else 0.0
            sure = [slot for slot in nearness.surely(surer) if slot not in candidates]
            candidates |= scorer.candidates(sure)
    return tuple(sorted(candidates.values(), key=_order))


def _by_evidence(scorer: _Scorer, found: Matches, most: int, floor: float) -> dict[int, Candidate]:
    """Those of the `most` with the strongest evidence for which the evidence is enough."""
    if scorer.query.asks_when:
        most *= 2  # what names a time may come from further behind
    least = _SHARE_OF_BEST * max(found.totals.values(), default=0.0) if floor else 0.0
    strong = [(slot, evidence) for slot, evidence in found.totals.items() if evidence >= least]
    kept: dict[int, Candidate] = {}
    for slot, _ in heapq.nlargest(most, strong, key=itemgetter(1)):
        values = scorer.values(slot)
        if not floor or scorer.is_evidence(slot, values, floor):
            kept[slot] = scorer.candidate(slot, values)
    return kept


def _by_intent(index: Index, query: Query, most: int) -> Sequence[int]:
    """What stands where the question is answered; of very much, the weightiest and newest."""
    places = frozenset[str]().union(*(ANSWERED_BY[intent] for intent in query.intents))
    return index.weightiest(places, most, _weight_and_time)


def _tastes(index: Index, query: Query, most: int) -> Sequence[int]:
    """The preferences of who speaks; where none are known, everybody's."""
    slots = index.weightiest(ANSWERED_BY[Intent.PREFERENCES], _DAYS_BACK, _weight_and_time)
    theirs = index.said_by(query.speaker) if query.speaker else frozenset()
    return ([slot for slot in slots if slot in theirs] or slots)[:most]


def _said_by(index: Index, query: Query, most: int) -> Sequence[int]:
    """What a person said, the weightiest and newest first, where nothing else is named."""
    person = query.speaker if query.asks_who else _only_word(query)
    theirs = index.said_by(person) if person else frozenset()
    found = [(_weight_and_time(index.item(slot)), -slot) for slot in theirs]
    return [-slot for _, slot in heapq.nlargest(most, found)]


def _only_word(query: Query) -> str:
    """The one word of a question that means something; empty where there are others."""
    strong = [term.word for term in query.terms if not term.weak]
    return strong[0] if len(strong) == 1 else ""


def _of_days(index: Index, query: Query, most: int) -> Sequence[int]:
    """What history has of the days that were asked for."""
    slots = index.weightiest(_HAPPENED, _DAYS_BACK, _weight_and_time)
    return [slot for slot in slots if is_of_asked_day(index.item(slot), query)][:most]


def _weight_and_time(item: Item) -> tuple[float, float]:
    return priority(item), item.when.timestamp() if item.when else 0.0


class _Scorer:
    """The words of one question, laid out for scoring item after item."""

    def __init__(
        self, index: Index, found: Matches, query: Query, now: datetime, nearness: Nearness
    ) -> None:
        self.query = query
        self._index, self._now, self._nearness = index, now, nearness
        words = [matched for matched in found.terms if not matched.is_gram]
        self._terms = sorted(found.terms, key=attrgetter("is_gram"))  # words first
        self._impacts = [(matched.weight, matched.impacts.get) for matched in self._terms]
        # What means something stands first.
        self._strong = sum([not matched.term.weak for matched in words])
        self._words = len(words)
        self._lifts = [_lift(matched) for matched in self._terms]
        self._names = [*[matched.term.word for matched in words], *_BESIDE_WORDS]
        self._asked = sum([not term.weak for term in query.terms])
        # What an item that holds all of the question has of each word; what no item holds counts 1.
        strong = words[: self._strong]
        self._most = [min(matched.weight, matched.highest) for matched in strong]
        self._whole = sum(self._most) + _count_unknown(query, strong)
        self._may_be_talk = self._asked > 1 and nearness.lead < _LIKE_TALK

    def values(self, slot: int) -> list[float]:
        """What each word counts in an item."""
        return [weight * impact(slot, 0.0) for weight, impact in self._impacts]

    def candidates(self, slots: Iterable[int], asked: str = "") -> dict[int, Candidate]:
        """The items of some slots with their scores, by slot.

        `asked` is what was asked for, where standing in its place is reason enough.
        """
        return {slot: self.candidate(slot, self.values(slot), asked) for slot in slots}

    def candidate(self, slot: int, values: Sequence[float], asked: str = "") -> Candidate:
        """The item with its score: words, pairs of characters and meaning, then circumstances."""
        item = self._index.item(slot)
        values = [value * lift for value, lift in zip(values, self._lifts, strict=True)]
        words, grams = values[: self._words], reduce(add, values[self._words :], 0.0)
        names, evidence = self._names, [*words, grams, self._nearness.value(slot)]
        if asked:
            names, evidence = [*names, f"asked for {asked}"], [*evidence, _ASKED_FOR]
        score = total = reduce(add, evidence)
        added = circumstances(item, self.query, self._now)
        for _, hundredths in added:
            score += total * hundredths / 100
        matches = self._words - words.count(0.0)
        return Candidate(
            *(item, score, matches, slot, names, evidence, added),
            most=self._most,
            whole=self._whole,
        )

    def is_evidence(self, slot: int, values: Sequence[float], floor: float) -> bool:
        """Whether the words that mean something reach the floor, and are not one by chance.

        In a section that was asked for, `SEED_FLOOR` is enough.
        """
        if self.query.intents and self._answers_intent(slot):
            floor = min(floor, SEED_FLOOR)
        strong = values[: self._strong]
        if reduce(add, strong, 0.0) < floor:
            return False
        pairs = zip(self._terms, strong, strict=False)
        hits = [(matched, value) for matched, value in pairs if value]
        if len(hits) == 1 and self._may_be_chance(hits[0][0], slot):
            lone = hits[0][0].term
            return lone.weight > 1 or not lone.word.isalpha()
        return self._asked <= _FEW_WORDS or self._literal_share(hits, slot) >= floor

    def _answers_intent(self, slot: int) -> bool:
        item = self._index.item(slot)
        return any(answers(item, intent) for intent in self.query.intents)

    def _literal_share(self, hits: Sequence[tuple[MatchedTerm, float]], slot: int) -> float:
        """The evidence, where what is meant and not said counts by the share of few words."""
        share = _FEW_WORDS / self._asked
        return sum([value if slot in matched.literal else value * share for matched, value in hits])

    def _may_be_chance(self, lone: MatchedTerm, slot: int) -> bool:
        """Whether a lone word says nothing.

        That is so out of many words, in talk, in a question about the world at large, or where it
        is only meant by somebody who tells and asks nothing.
        """
        if slot in lone.literal and says("warning", self._index.item(slot).text):
            return False
        if self._asked >= _LONE_AMONG or self._seems_talk(slot) or self._is_general:
            return True
        return slot not in lone.literal and self._only_tells

    def _seems_talk(self, slot: int) -> bool:
        nearness = self._nearness
        return self._may_be_talk and nearness.margins.get(slot, 0.0) + nearness.lead < _NOT_NEAR

    @cached_property
    def _is_general(self) -> bool:
        return self.query.is_general()

    @cached_property
    def _only_tells(self) -> bool:
        return self.query.only_tells()


def _lift(matched: MatchedTerm) -> float:
    if matched.is_gram or matched.term.weak or matched.literal:
        return 1.0
    return _NOWHERE_LITERAL


def _count_unknown(query: Query, matched: Sequence[MatchedTerm]) -> int:
    """How many words of a question that mean something no item holds."""
    known = {one.term.word for one in matched}
    return sum([not term.weak and term.word not in known for term in query.terms])


def _order(candidate: Candidate) -> tuple[float, int, float, int, str, str]:
    item = candidate.item
    weight = candidate.circumstances[0][1]  # that of its source stands first
    return -candidate.score, -candidate.matches, -weight, item.place, item.section, item.id
