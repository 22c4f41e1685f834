"""The order of what was found: evidence first, and how things stand as a small factor."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from pipimem.notes.kinds import Kind
from pipimem.recall import phrases
from pipimem.recall.explaining import Part, scored
from pipimem.recall.index import Index, Share
from pipimem.recall.intents import BONUS, answers
from pipimem.recall.items import Item, Source
from pipimem.recall.refinement import Query

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
# Far behind the best, an item shares its common words only.
_SHARE_OF_BEST = 0.3
# What a question that is nothing but an intent finds in the section that answers it.
_ASKED_FOR = 1.0

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


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that was found: its score, the parts that add up to it, its rank from 1 once known."""

    item: Item
    score: float
    parts: tuple[Part, ...]
    matches: int
    slot: int
    rank: int = 0


def ranked(
    index: Index,
    query: Query,
    now: datetime,
    *,
    most: int,
    floor: float = FLOOR,
    only: Callable[[Item], bool] | None = None,
) -> tuple[Candidate, ...]:
    """What is above the floor, best first; the order is total: score, matches, priority, title.

    The `most` with the strongest evidence are looked at. Circumstances lift a score by less than half, so
    with twice as many as are wanted, what is left out would not have come to the front. `only` says which
    items count at all.
    """
    by_slot = {one.slot: one for one in _by_evidence(index, query, now, most, floor, only)}
    if query.pure:
        by_slot |= {one.slot: one for one in _by_intent(index, query, now, most)}
    return tuple(sorted(by_slot.values(), key=_place))


def priority(item: Item) -> float:
    """What the place of an item is worth, in hundredths of its evidence (DESIGN §8)."""
    match item.source:
        case Source.SESSION:
            return _SESSION_PRIORITY.get(item.kind, _PRIORITY[Source.SESSION])
        case Source.MEMORY:
            return _MEMORY_PRIORITY.get(item.kind, _PRIORITY[Source.MEMORY])
        case other:
            return _PRIORITY[other]


def structure(item: Item, query: Query, now: datetime) -> Iterator[Part]:
    """How an item stands to the question beside its words, in hundredths of its evidence."""
    yield Part(f"source {item.source}", priority(item))
    for intent in query.intents:
        if answers(item, intent):
            yield Part(f"intent {intent}", BONUS[intent])
            break  # one section answers; a second cue for it says nothing new
    if item.when is not None:
        if bonus := next((bonus for span, bonus in _RECENCY if now - item.when <= span), 0.0):
            yield Part("recent", bonus)
        if any(span.start <= item.when.date() <= span.end for span in query.spans):
            yield Part("date asked for", _SAME_DATE)
    if query.asks_when and phrases.NAMES_A_TIME().search(item.text):
        yield Part("names a time", _NAMES_A_TIME)
    if trust := _TRUST.get(item.trust, 0.0):
        yield Part(f"trust {item.trust}", trust)
    if item.recalls:
        yield Part("recalled before", float(min(item.recalls, _ACCESS_MOST)))


def _by_evidence(
    index: Index, query: Query, now: datetime, most: int, floor: float, only: Callable[[Item], bool] | None
) -> Iterator[Candidate]:
    seed_floor = min(floor, SEED_FLOOR)
    found = index.search(query.terms, query.grams, floor=seed_floor if query.intents else floor)
    totals: Iterable[tuple[int, float]] = found.totals.items()
    if only is not None:
        totals = ((slot, evidence) for slot, evidence in totals if only(index.item(slot)))
    # What names a time may come from further behind.
    strongest = heapq.nlargest(2 * most if query.asks_when else most, totals, key=itemgetter(1))
    least = _SHARE_OF_BEST * strongest[0][1] if strongest and floor else 0.0
    for slot, evidence in strongest:
        if evidence < least:
            break
        item, shares = index.item(slot), found.shares(slot)
        seeded = any(answers(item, intent) for intent in query.intents)
        if not floor or _is_evidence(shares, query, seed_floor if seeded else floor):
            yield _candidate(slot, item, _evidence(shares), query, now, sum(not share.gram for share in shares))


def _is_evidence(shares: Sequence[Share], query: Query, floor: float) -> bool:
    """Whether the words that mean something add up to the floor, and are not one plain word out of many."""
    strong = [share for share in shares if not share.weak]
    if sum(share.value for share in strong) < floor:
        return False
    lone = len(strong) == 1 and strong[0].word.isalpha() and strong[0].weight == 1
    return not lone or sum(not term.weak for term in query.terms) < _LONE_AMONG


def _by_intent(index: Index, query: Query, now: datetime, most: int) -> Iterator[Candidate]:
    """What stands where the question is answered; of very much, the weightiest and newest."""
    found = index.search(query.terms)
    wanted = (pair for pair in index.slots() if any(answers(pair[1], intent) for intent in query.intents))
    for slot, item in heapq.nlargest(most, wanted, key=lambda pair: (priority(pair[1]), _since(pair[1]), -pair[0])):
        shares = found.shares(slot)
        evidence = (Part(f"asked for {query.intents[0]}", _ASKED_FOR), *_evidence(shares))
        yield _candidate(slot, item, evidence, query, now, len(shares))


def _since(item: Item) -> float:
    return item.when.timestamp() if item.when else 0.0


def _evidence(shares: Sequence[Share]) -> list[Part]:
    parts = [Part(share.word, share.value) for share in shares if not share.gram]
    if len(parts) < len(shares):
        parts.append(Part("pairs of characters", sum(share.value for share in shares if share.gram)))
    return parts


def _candidate(slot: int, item: Item, evidence: Sequence[Part], query: Query, now: datetime, matches: int) -> Candidate:
    total = scored(evidence)
    parts = (*evidence, *[Part(part.name, total * part.value / 100) for part in structure(item, query, now)])
    return Candidate(item, scored(parts), parts, matches, slot)


def _place(candidate: Candidate) -> tuple[float, int, float, str, str]:
    item = candidate.item
    return -candidate.score, -candidate.matches, -priority(item), item.section, item.id
