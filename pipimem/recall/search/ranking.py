"""The messages that answer a question best: a coarse look at all of them, then the formula where it matters."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.recall.explaining import Part, scored
from pipimem.recall.search.filters import Filters
from pipimem.recall.search.formula import FORMULA, USUAL_LENGTH, Formula
from pipimem.recall.search.hits import Hit
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.lifts import Lifts, own
from pipimem.recall.search.looking import Reach, newest, rarity, reach
from pipimem.recall.search.question import Group, Question, asked
from pipimem.recall.search.threads import END
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.text.words import GRAM


@dataclass(slots=True)
class _Weighed:
    """Slot → score so far, and the addends by the word that gave them."""

    totals: dict[int, float] = field(default_factory=dict)
    parts: list[tuple[str, dict[int, float]]] = field(default_factory=list)

    def add(self, name: str, values: dict[int, float]) -> None:
        """What one word or circumstance gives."""
        totals = self.totals
        get = totals.get
        for slot, value in values.items():
            totals[slot] = get(slot, 0.0) + value
        self.parts.append((name, values))

    def of(self, slot: int) -> list[Part]:
        """The addends of one slot; pairs of characters as one."""
        parts: dict[str, float] = {}
        for name, values in self.parts:
            if value := values.get(slot):
                name = "pairs of characters" if name.startswith(GRAM) else name
                parts[name] = parts.get(name, 0.0) + value
        return [Part(name, value) for name, value in parts.items()]


def search(
    index: TranscriptIndex,
    text: str,
    *,
    now: datetime,
    limit: int = 10,
    filters: Filters | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
    formula: Formula = FORMULA,
) -> tuple[Hit, ...]:
    """The messages that say most about `text`, best first, the earlier of equals first."""
    question = asked(text, index, now=now, synonyms=synonyms, formula=formula)
    passes = filters.gate(index) if filters else None
    weighed = _weighed(index, question, formula, reach(index, question, formula, passes))
    lifts = Lifts(index, question, formula)
    scores = lifts.lifted(weighed.totals)
    if passes is not None:
        scores = (pair for pair in scores if passes(-pair[1]))
    best = heapq.nlargest(limit, scores)
    return tuple(
        _hit(index, -slot, weighed, lifts, rank) for rank, (_, slot) in enumerate(best, start=1)
    )


def _hit(index: TranscriptIndex, slot: int, weighed: _Weighed, lifts: Lifts, rank: int) -> Hit:
    parts = weighed.of(slot)
    total = scored(parts)
    parts += [Part(name, total * value) for name, value in lifts.of(slot)]
    return Hit(index.item(slot), scored(parts), tuple(parts), slot, rank)


def _weighed(
    index: TranscriptIndex, question: Question, formula: Formula, where: Reach
) -> _Weighed:
    weighed = _Weighed()
    for group in question.groups:
        if values := _values(index, group, formula, where):
            weighed.add(group.name, values)
    for span in question.spans:
        for slots in index.within(span.start, span.end):
            weighed.add("on that day", dict.fromkeys(where.of(slots), formula.date))
    if question.people:
        said = own(index, question.people, weighed.totals)
        if question.only_people:
            said += newest(index, question.people)
        weighed.add("said by whom is named", dict.fromkeys(said, formula.person))
    return weighed


def _values(
    index: TranscriptIndex, group: Group, formula: Formula, where: Reach
) -> dict[int, float]:
    """What a group counts in each message: BM25 over its own words and, for less, those of its neighbours.

    The members are one word: their counts are added up, each with its share and what its rarity is to that of
    the word of the question.
    """
    known = ((share, index.places(word)) for word, share in group.members)
    found = [(rarity(index, len(places)), share, places) for share, places in known if places]
    if not found:
        return {}
    most = found[0][0] if found[0][1] == 1.0 else max(rare for rare, _, _ in found)
    counts: dict[int, float] = {}
    for rare, share, places in found:
        _spread(
            index,
            where.of(places),
            share * min(1.0, rare / most) if most else share,
            formula,
            counts,
        )
    scale, top = group.weight * most, formula.saturation + 1
    fixed, by_length = (
        formula.saturation * (1 - formula.length),
        formula.saturation * formula.length / USUAL_LENGTH,
    )
    lengths = index.lengths
    return {
        slot: scale * count * top / (count + fixed + by_length * lengths[slot])
        for slot, count in counts.items()
    }


def _spread(
    index: TranscriptIndex,
    places: Iterable[int],
    weight: float,
    formula: Formula,
    counts: dict[int, float],
) -> None:
    """Count a word where it stands, and for less in the messages that follow and precede in the thread."""
    get = counts.get
    chains = (
        (index.threads.after, [share * weight for share in formula.before]),
        (index.threads.before, [share * weight for share in formula.after]),
    )
    for slot in places:
        counts[slot] = get(slot, 0.0) + weight
        for following, shares in chains:
            there = slot
            for share in shares:
                there = following[there]
                if there == END:
                    break
                counts[there] = get(there, 0.0) + share
