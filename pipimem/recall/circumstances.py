"""What an item's place, age, trust and use add to the evidence of its words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from pipimem.notes.kinds import Kind
from pipimem.recall.candidate import Circumstance
from pipimem.recall.intents import BONUS, answers
from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import NAMES_A_TIME
from pipimem.recall.query import Query
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
