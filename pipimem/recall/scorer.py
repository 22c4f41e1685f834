"""What an item is worth to one question, and whether its evidence is enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property, reduce
from operator import add, attrgetter

from pipimem.notes.kinds import Kind
from pipimem.recall.index import Index
from pipimem.recall.items import Candidate, Circumstance, Item, Source
from pipimem.recall.phrases import BONUS, NAMES_A_TIME, answers, is_kind, is_one_question, says
from pipimem.recall.query import Query
from pipimem.recall.scoring import MatchedTerm, Matches
from pipimem.recall.vectors import Nearness
from pipimem.text.quotes import words_said

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
    Kind.WISH: 11,
    Kind.HEALTH: 11,
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
_SOURCES = {source: f"source {source}" for source in Source}
_RECENCY = ((timedelta(days=1), 6.0), (timedelta(days=7), 4.0), (timedelta(days=30), 2.0))
# A date in the question that is the item's own says as much as a good circumstance, never as much
# as a word.
_SAME_DATE = 8.0
# Whoever asks when wants an item that names a time: that is half an answer, where the other
# circumstances only lean.
_NAMES_A_TIME = 50.0
NAMES_THE_TIME = "names a time"
# Trust and access move a score by 10 hundredths at most, together.
_TRUST: Mapping[str, float] = {
    "human": 5,
    "explicit": 5,
    "inferred": 0,
    "probation": -5,
    "quoted": -5,
}
_ACCESS_MOST = 5


def priority(item: Item) -> float:
    """What the place of an item is worth, in hundredths of its evidence."""
    lowest = _PRIORITY[item.source]
    match item.source:
        case Source.SESSION:
            return _SESSION_PRIORITY.get(item.kind, lowest)
        case Source.MEMORY:
            return _MEMORY_PRIORITY.get(item.kind, lowest)
        case _:
            return lowest


def circumstances(item: Item, query: Query, now: datetime) -> list[Circumstance]:
    """How an item stands to the question beside its words."""
    found: list[Circumstance] = [(_SOURCES[item.source], priority(item))]
    for intent in query.intents:
        if answers(item, intent):
            found.append((f"intent {intent}", BONUS[intent]))
            break  # one section answers; a second cue for it says nothing new
    if item.when is not None:
        recency = _recency(now - item.when)
        if recency:
            found.append(("recent", recency))
        if is_of_asked_day(item, query):
            found.append(("date asked for", _SAME_DATE))
    if query.asks_when and NAMES_A_TIME().search(words_said(item.text)):
        found.append((NAMES_THE_TIME, _NAMES_A_TIME))
    trust = _TRUST.get(item.trust, 0.0)
    if trust:
        found.append((f"trust {item.trust}", trust))
    if item.recalls:
        found.append(("recalled before", float(min(item.recalls, _ACCESS_MOST))))
    return found


def is_of_asked_day(item: Item, query: Query) -> bool:
    """Whether the day of an item is one that the question names."""
    if item.when is None:
        return False
    day = item.when.date()
    return any(span.start <= day <= span.end for span in query.spans)


def _recency(age: timedelta) -> float:
    for span, bonus in _RECENCY:
        if age <= span:
            return bonus
    return 0.0


# An item of the section that was asked for needs a word in common, but a commoner one will do.
SEED_FLOOR = 0.25
# So does one for a question about the asker's own affairs: such a question is rarely small talk.
OURS_FLOOR = 0.2
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
# And so much less of it in a message that is not one question.
_SHARE_IN_TALK = 0.6
# Nor is a lone word much of a question that resembles small talk more than what people ask a
# memory, where the entry is not near to it either (`vectors.Nearness`).
_LIKE_TALK = -0.008
_NOT_NEAR = -0.02
# A word that stands in no item as it is said counts so much more in the order: what it means in
# other words, or another language, is all there is of it. Else "订" alone comes before the hotel
# that was booked, in a question for 酒店. For the floor it counts as it is, or more talk would find
# something.
_NOWHERE_LITERAL = 1.6
# What stands in a place that was asked for, words or none.
ASKED_FOR = 1.0
# What speaks for an item beside its words.
_BESIDE_WORDS = ("pairs of characters", "near in meaning")

# A word of the question and what it counts in an item.
_Hit = tuple[MatchedTerm, float]


class Scorer:
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
        self._asked = _count_asked(query)
        self._may_be_talk = self._asked > 1 and nearness.lead < _LIKE_TALK

    def values(self, slot: int) -> list[float]:
        """What each word counts in an item."""
        return [weight * impact(slot, 0.0) for weight, impact in self._impacts]

    def evidence(self, values: Sequence[float]) -> float:
        """What the words that mean something count together."""
        return reduce(add, values[: self._strong], 0.0)

    def candidates(
        self, slots: Iterable[int], asked: str = "", value: float = ASKED_FOR
    ) -> dict[int, Candidate]:
        """The items of some slots with their scores, by slot.

        `asked` is what was asked for, where standing in its place is reason enough, and counts
        `value`.
        """
        return {slot: self.candidate(slot, self.values(slot), asked, value) for slot in slots}

    def candidate(
        self, slot: int, values: Sequence[float], asked: str = "", value: float = ASKED_FOR
    ) -> Candidate:
        """The item with its score: words, pairs of characters and meaning, then circumstances."""
        item = self._index.item(slot)
        values = [value * lift for value, lift in zip(values, self._lifts, strict=True)]
        words, grams = values[: self._words], reduce(add, values[self._words :], 0.0)
        names, evidence = self._names, [*words, grams, self._nearness.value(slot)]
        if asked:
            names, evidence = [*names, f"asked for {asked}"], [*evidence, value]
        score = total = reduce(add, evidence)
        added = circumstances(item, self.query, self._now)
        for _, hundredths in added:
            score += total * hundredths / 100
        matches = self._words - words.count(0.0)
        return Candidate(item, score, matches, slot, names, evidence, added, strong=self._strong)

    def is_evidence(self, slot: int, values: Sequence[float], floor: float) -> bool:
        """Whether the words that mean something reach the floor, and are not one by chance.

        In a section that was asked for, `SEED_FLOOR` is enough; for a question about the asker's
        own affairs `OURS_FLOOR`. The kind of the answer alone is enough only where such a question
        is about something particular.
        """
        floor = self._least(slot, floor)
        hits = self._hits(values)
        if reduce(add, [value for _, value in hits], 0.0) < floor:
            return False
        if all(is_kind(matched.term) for matched, _ in hits):
            return self.is_ours and self.query.is_particular()
        return self.is_ours or self._is_no_chance(hits, slot, floor)

    def _least(self, slot: int, floor: float) -> float:
        if self.is_ours:
            return min(floor, OURS_FLOOR)
        if self.query.intents and self._answers_intent(slot):
            return min(floor, SEED_FLOOR)
        return floor

    def _hits(self, values: Sequence[float]) -> list[_Hit]:
        """The words that an item has; of a question about the world at large no kinds of answers:
        every price is told somewhere.
        """
        pairs = zip(self._terms, values[: self._strong], strict=False)
        hits = [(matched, value) for matched, value in pairs if value]
        if self.is_general:
            return [hit for hit in hits if not is_kind(hit[0].term)]
        return hits

    def _is_no_chance(self, hits: Sequence[_Hit], slot: int, floor: float) -> bool:
        if len(hits) == 1 and self._may_be_chance(hits[0][0], slot):
            lone = hits[0][0]
            if self.is_general and slot not in lone.literal:
                return False
            return lone.term.weight > 1 or not lone.term.word.isalpha()
        return self._asked <= _FEW_WORDS or self._literal_share(hits, slot) >= floor

    def _answers_intent(self, slot: int) -> bool:
        item = self._index.item(slot)
        return any(answers(item, intent) for intent in self.query.intents)

    def _literal_share(self, hits: Sequence[_Hit], slot: int) -> float:
        """The evidence, where what is meant and not said counts by the share of few words."""
        share = _FEW_WORDS / self._asked
        if not self._is_one_question:
            share *= _SHARE_IN_TALK
        return sum([value if slot in matched.literal else value * share for matched, value in hits])

    def _may_be_chance(self, lone: MatchedTerm, slot: int) -> bool:
        """Whether a lone word says nothing.

        That is so out of many words, in talk, in a question about the world at large, or where it
        is only meant: by somebody who tells and asks nothing, or asks after the listener.
        """
        if slot in lone.literal and says("warning", self._index.item(slot).text):
            return False
        if self._asked >= _LONE_AMONG or self._seems_talk(slot) or self.is_general:
            return True
        return slot not in lone.literal and (self._only_tells or self._is_of_listener)

    def _seems_talk(self, slot: int) -> bool:
        nearness = self._nearness
        return self._may_be_talk and nearness.margins.get(slot, 0.0) + nearness.lead < _NOT_NEAR

    # Worked out once a question, not once an item.
    @cached_property
    def is_general(self) -> bool:
        """Whether the question may be about the world at large."""
        return self.query.is_general()

    @cached_property
    def is_ours(self) -> bool:
        """Whether it is one question about the asker's own affairs."""
        return not self.is_general and self.query.is_ours()

    @cached_property
    def _is_one_question(self) -> bool:
        return is_one_question(self.query.text)

    @cached_property
    def _is_of_listener(self) -> bool:
        return says("of the listener", self.query.text)

    @cached_property
    def _only_tells(self) -> bool:
        return self.query.only_tells()


def _lift(matched: MatchedTerm) -> float:
    if matched.is_gram or matched.term.weak or matched.literal:
        return 1.0
    return _NOWHERE_LITERAL


def _count_asked(query: Query) -> int:
    """How many words of a question mean something."""
    return sum([not (term.weak or is_kind(term)) for term in query.terms])
