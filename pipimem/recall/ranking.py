"""The order of what was found: evidence first, circumstances as a small factor."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from msgspec import Struct

from pipimem.recall.coverage import question_words
from pipimem.recall.index import Index
from pipimem.recall.items import Candidate, Item, Source
from pipimem.recall.phrases import ANSWERED_BY, Intent, is_one_question, says
from pipimem.recall.query import Query
from pipimem.recall.scorer import OURS_FLOOR, Scorer, is_of_asked_day, priority
from pipimem.recall.scoring import Matches
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness

# A word that stands in one item counts 1 and a little, one in a sixteenth of 5,000 items a third.
# Chosen so: of 600 messages of ordinary talk, English and Chinese, 98 to 99 % find nothing in
# memories of 50, 500 and 5,000 entries they have nothing to do with; from 0.35 to 0.6 that moves by
# a point. The weakest gold entry there has 0.43; at 0.75 four of a hundred are lost.
FLOOR = 0.4
# What has the form of a question about the world at large must mean an entry all the more surely;
# one about the asker's own affairs a little less.
_SURER = 0.02
_OURS_NEARER = 0.01
# Far behind the best, an item shares its common words only.
_SHARE_OF_BEST = 0.3
# What happened stands in history; so many of its newest bullets are looked through for a day.
_HAPPENED = frozenset((Source.HISTORY,))
_DAYS_BACK = 2_000
# A question that names a past day beside other things is answered by that day, too: so many
# bullets, each for half of what stands in a place that was asked for by name.
_MOST_OF_A_DAY = 8
_ON_THAT_DAY = 0.5
# What was in a longer time, a year, is no question for its days.
_SEASON = timedelta(days=100)
# Where something was found, what is nearly evidence fills up to so many: half of the answers to
# questions in other words come sixth of one. Nearly is half the floor, or meaning so far below
# the bar.
_FILLED_TO = 5
_NEARLY = 0.2
_NEARLY_NEAR = 0.04


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
    Without a floor only words, places and meaning count.
    """
    found = index.search(query.terms, query.grams, floor=min(floor, OURS_FLOOR))
    scorer = Scorer(index, found, query, now, nearness)
    search = _Search(index, query, now, found, nearness, scorer, most)
    of_days = search.of_days(most) if query.of_days else ()
    if of_days:
        candidates = scorer.candidates(of_days, Intent.HISTORY)
    else:
        candidates = search.by_evidence(floor)
        if query.pure:
            candidates |= scorer.candidates(search.by_intent(), query.intents[0])
        elif query.as_usual:
            candidates |= scorer.candidates(search.their_preferences(), Intent.PREFERENCES)
        else:
            candidates |= scorer.candidates(search.their_words(), "their words")
            if floor:
                candidates |= scorer.candidates(
                    search.of_past(candidates), "that day", _ON_THAT_DAY
                )
            candidates |= scorer.candidates(search.near(candidates))
            if floor and not candidates:
                candidates |= scorer.candidates(search.holding_all())
            if floor:
                candidates |= search.more(candidates)
    return tuple(sorted(candidates.values(), key=_order))


class _Search(Struct, frozen=True):
    """The ways in which items are found for one question, each a list of slots."""

    index: Index
    query: Query
    now: datetime
    found: Matches
    nearness: Nearness
    scorer: Scorer
    most: int

    def by_evidence(self, floor: float) -> dict[int, Candidate]:
        """Those of the `most` with the strongest evidence for which the evidence is enough."""
        totals = self.found.totals
        # What names a time may come from further behind.
        most = self.most * 2 if self.query.asks_when else self.most
        least = _SHARE_OF_BEST * max(totals.values(), default=0.0) if floor else 0.0
        strong = [(slot, evidence) for slot, evidence in totals.items() if evidence >= least]
        kept: dict[int, Candidate] = {}
        for slot, _ in heapq.nlargest(most, strong, key=itemgetter(1)):
            values = self.scorer.values(slot)
            if not floor or self.scorer.is_evidence(slot, values, floor):
                kept[slot] = self.scorer.candidate(slot, values)
        return kept

    def by_intent(self) -> Sequence[int]:
        """What stands where the question is answered; of very much, the weightiest and newest."""
        places = frozenset[str]().union(*(ANSWERED_BY[intent] for intent in self.query.intents))
        return self.index.weightiest(places, self.most, _weight_and_time)

    def their_preferences(self) -> Sequence[int]:
        """The preferences of who speaks; where none are known, everybody's."""
        preferences = ANSWERED_BY[Intent.PREFERENCES]
        slots = self.index.weightiest(preferences, _DAYS_BACK, _weight_and_time)
        theirs = self.index.said_by(self.query.speaker) if self.query.speaker else frozenset()
        return ([slot for slot in slots if slot in theirs] or slots)[: self.most]

    def their_words(self) -> Sequence[int]:
        """What a person said, the weightiest and newest first, where nothing else is named."""
        person = self.query.speaker if self.query.asks_who else _only_word(self.query)
        theirs = self.index.said_by(person) if person else frozenset()
        found = [(_weight_and_time(self.index.item(slot)), -slot) for slot in theirs]
        return [-slot for _, slot in heapq.nlargest(self.most, found)]

    def of_days(self, most: int) -> Sequence[int]:
        """What history has of the days that were asked for."""
        slots = self.index.weightiest(_HAPPENED, _DAYS_BACK, _weight_and_time)
        return [slot for slot in slots if is_of_asked_day(self.index.item(slot), self.query)][:most]

    def of_past(self, known: Iterable[int]) -> Sequence[int]:
        """What happened on a past day that one question names beside other things."""
        if not self._asks_of_past():
            return ()
        return _without(known, self.of_days(_MOST_OF_A_DAY))

    def near(self, known: Iterable[int]) -> Sequence[int]:
        """What surely means what is asked."""
        surer = 0.0
        if self.scorer.is_ours:
            surer = -_OURS_NEARER
        elif self.nearness.sure and self.scorer.is_general:
            surer = _SURER
        return _without(known, self.nearness.surely(surer))

    def holding_all(self) -> Sequence[int]:
        """Return the items that hold all that a question names, among those with most of it."""
        named = question_words(self.query.text, self.index.words)
        asks_the_world = self.scorer.is_general or says("procedure", self.query.text)
        if asks_the_world or not (named.runs or named.words):
            return ()
        totals = self.index.search(self.query.terms, self.query.grams, floor=0.0).totals
        return [
            slot
            for slot in heapq.nlargest(_FILLED_TO, totals, key=totals.__getitem__)
            if named.all_stand_in(
                self.index.item(slot).text, self.index.said(slot).words, self.index.words
            )
        ]

    def more(self, known: dict[int, Candidate]) -> dict[int, Candidate]:
        """What else is shown: the asker's entries where there are none, what is nearly evidence."""
        if self.scorer.is_general:
            return {}
        if not known:
            known = self.scorer.candidates(self._said_by_asker())
        if not known:
            return {}
        return known | self._nearly(known)

    def _asks_of_past(self) -> bool:
        """Whether one question names a past day, and does not ask for a time."""
        today = self.now.date()
        spans = [span for span in self.query.spans if span.end - span.start <= _SEASON]
        if self.query.asks_when or not any(span.start < today for span in spans):
            return False
        return is_one_question(self.query.text) and not self.scorer.is_general

    def _said_by_asker(self) -> Sequence[int]:
        """Of a question about the asker themselves, the entries with their name."""
        query = self.query
        if not query.speaker or not is_one_question(query.text):
            return ()
        if not says("first person", query.text):
            return ()
        names = set(self.index.words.words(query.speaker))
        theirs = [matched for matched in self.found.terms if matched.term.word in names]
        slots = {slot for matched in theirs for slot in matched.impacts}
        return heapq.nlargest(_FILLED_TO, slots, key=lambda slot: self.found.totals.get(slot, 0.0))

    def _nearly(self, known: dict[int, Candidate]) -> dict[int, Candidate]:
        """The best of what is nearly evidence, as many as there is room for."""
        left = _FILLED_TO - len(known)
        if left <= 0:
            return {}
        slots = [slot for slot in _without(known, self.found.totals) if self._is_nearly(slot)]
        slots += _without(known, self.nearness.surely(-_NEARLY_NEAR))
        found = self.scorer.candidates(dict.fromkeys(slots))
        best = heapq.nsmallest(left, found.items(), key=lambda one: _order(one[1]))
        return dict(best)

    def _is_nearly(self, slot: int) -> bool:
        return self.scorer.evidence(self.scorer.values(slot)) >= _NEARLY


def _without(known: Iterable[int], slots: Iterable[int]) -> list[int]:
    left_out = frozenset(known)
    return [slot for slot in slots if slot not in left_out]


def _only_word(query: Query) -> str:
    """The one word of a question that means something; empty where there are others."""
    strong = [term.word for term in query.terms if not term.weak]
    return strong[0] if len(strong) == 1 else ""


def _weight_and_time(item: Item) -> tuple[float, float]:
    return priority(item), item.when.timestamp() if item.when else 0.0


def _order(candidate: Candidate) -> tuple[float, int, float, int, str, str]:
    item = candidate.item
    weight = candidate.circumstances[0][1]  # that of its source stands first
    return -candidate.score, -candidate.matches, -weight, item.place, item.section, item.id
