"""The messages that answer a question best: candidate blocks first, then the formula on them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from pipimem.recall.postings import rarity
from pipimem.recall.scoring import Part, scored
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.candidates import Blocks, blocks_to_weigh, newest
from pipimem.recall.transcript.features import Shape
from pipimem.recall.transcript.filters import Filters
from pipimem.recall.transcript.formula import FORMULA, USUAL_LENGTH, Formula
from pipimem.recall.transcript.hits import Hit
from pipimem.recall.transcript.question import Group, TranscriptQuery, query_of
from pipimem.recall.transcript.threads import END
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.words.index_words import GRAM

_SHAPES = (Shape.TIME, Shape.NUMBER, Shape.NAME)


def spoken_by_or_to(
    index: TranscriptIndex, people: frozenset[int], slots: Iterable[int]
) -> list[int]:
    """Those of the slots that one of the people said, or the bot to them."""
    spoken_by, threads = index.spoken_by, index.threads.of
    return [slot for slot in slots if spoken_by[slot] in people or threads[slot] in people]


class Boosts:
    """What a message's words count more for who said it, on which day, and what it has."""

    def __init__(self, index: TranscriptIndex, query: TranscriptQuery, formula: Formula) -> None:
        self._index, self._people, self._formula = index, query.people, formula
        days = (index.within(span.start, span.end) for span in query.spans)
        self._dated = frozenset(chain.from_iterable(chain.from_iterable(days)))
        bonuses = zip(_SHAPES, (formula.time, formula.number, formula.name), strict=True)
        self._wanted = {shape: bonus for shape, bonus in bonuses if shape & query.wanted}
        # There are 32 shapes, and a thousand messages to weigh.
        shapes = range(1 << len(Shape))
        self._by_shape = [1 + sum(bonus for _, bonus in self._shape(shape)) for shape in shapes]

    def boosted(self, totals: Mapping[int, float]) -> Iterator[tuple[float, int]]:
        """Each whole score with its slot negated: of equals the earlier is the larger."""
        shapes, by_shape = self._index.shapes, self._by_shape
        spoken = self._spoken(totals)
        for slot, value in totals.items():
            factor = by_shape[shapes[slot]]
            if slot in spoken:
                factor += self._formula.spoken
            if slot in self._dated:
                factor += self._formula.dated
            yield value * factor, -slot

    def of(self, slot: int) -> Iterator[tuple[str, float]]:
        """Each circumstance of a message and what it adds to 1."""
        yield from self._shape(self._index.shapes[slot])
        if self._spoken((slot,)):
            yield "of whom is named", self._formula.spoken
        if slot in self._dated:
            yield "of that day", self._formula.dated

    def _spoken(self, slots: Iterable[int]) -> frozenset[int]:
        return frozenset(spoken_by_or_to(self._index, self._people, slots) if self._people else ())

    def _shape(self, shape: int) -> Iterator[tuple[str, float]]:
        if shape & Shape.QUESTION:
            yield "only asks", -self._formula.question
        for wanted, bonus in self._wanted.items():
            if shape & wanted:
                yield f"has a {str(wanted.name).lower()}", bonus


@dataclass(slots=True)
class _Scores:
    """Slot → score so far, and the addends by the word that gave them."""

    totals: dict[int, float] = field(default_factory=dict)
    addends: list[tuple[str, dict[int, float]]] = field(default_factory=list)

    def add(self, name: str, values: dict[int, float]) -> None:
        """What one word or circumstance gives."""
        totals = self.totals
        get = totals.get
        for slot, value in values.items():
            totals[slot] = get(slot, 0.0) + value
        self.addends.append((name, values))

    def of(self, slot: int) -> list[Part]:
        """The addends of one slot; pairs of characters as one."""
        parts: dict[str, float] = {}
        for name, values in self.addends:
            if slot in values:
                name = "pairs of characters" if name.startswith(GRAM) else name
                parts[name] = parts.get(name, 0.0) + values[slot]
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
    query = query_of(text, index, now=now, synonyms=synonyms, formula=formula)
    passes = filters.gate(index) if filters else None
    blocks = blocks_to_weigh(index, query, formula, passes)
    found: list[Hit] = []
    for slot, parts in weighed(index, query, limit, formula, blocks, passes):
        found.append(Hit(index.item(slot), scored(parts), tuple(parts), slot, len(found) + 1))
    return tuple(found)


def weighed(
    index: TranscriptIndex,
    query: TranscriptQuery,
    limit: int,
    formula: Formula,
    blocks: Blocks,
    passes: Callable[[int], bool] | None = None,
) -> list[tuple[int, list[Part]]]:
    """The slots of the best messages that pass, best first, with their parts; no text is read."""
    scores = _scored(index, query, formula, blocks)
    boosts = Boosts(index, query, formula)
    boosted = boosts.boosted(scores.totals)
    if passes is not None:
        boosted = (pair for pair in boosted if passes(-pair[1]))
    found: list[tuple[int, list[Part]]] = []
    for _, negated in heapq.nlargest(limit, boosted):
        parts = scores.of(-negated)
        total = scored(parts)
        parts += [Part(name, total * value) for name, value in boosts.of(-negated)]
        found.append((-negated, parts))
    return found


def _scored(
    index: TranscriptIndex, query: TranscriptQuery, formula: Formula, blocks: Blocks
) -> _Scores:
    scores = _Scores()
    for group in query.groups:
        values = _values(index, group, formula, blocks)
        if values:
            scores.add(group.name, values)
    for span in query.spans:
        for slots in index.within(span.start, span.end):
            scores.add("on that day", dict.fromkeys(blocks.of(slots), formula.date))
    if query.people:
        said = spoken_by_or_to(index, query.people, scores.totals)
        if query.only_people:
            said += newest(index, query.people)
        scores.add("said by whom is named", dict.fromkeys(said, formula.person))
    return scores


def _values(
    index: TranscriptIndex, group: Group, formula: Formula, blocks: Blocks
) -> dict[int, float]:
    """What a group counts in each message: BM25 over its words and, for less, its neighbours'.

    The members are one word: their counts are added up, each with its share and what its rarity is
    to that of the word of the question.
    """
    known = ((share, index.places(word)) for word, share in group.members)
    found = [(rarity(len(places), len(index)), share, places) for share, places in known if places]
    if not found:
        return {}
    highest = max(rare for rare, _, _ in found)
    if found[0][1] == 1.0:  # the word of the question stands somewhere
        highest = found[0][0]
    counts: dict[int, float] = {}
    for rare, share, places in found:
        relative = min(1.0, rare / highest) if highest else 1.0
        _spread(index, blocks.of(places), share * relative, formula, counts)
    k1, b, lengths = formula.saturation, formula.length, index.lengths
    scale, fixed, by_length = group.weight * highest, k1 * (1 - b), k1 * b / USUAL_LENGTH
    return {
        slot: scale * count * (k1 + 1) / (count + fixed + by_length * lengths[slot])
        for slot, count in counts.items()
    }


def _spread(
    index: TranscriptIndex,
    places: Iterable[int],
    weight: float,
    formula: Formula,
    counts: dict[int, float],
) -> None:
    """Adds a word where it stands, and for less in the messages before and after in the thread."""
    get = counts.get
    chains = (
        (index.threads.after, [share * weight for share in formula.before]),
        (index.threads.before, [share * weight for share in formula.after]),
    )
    for slot in places:
        counts[slot] = get(slot, 0.0) + weight
        for following, shares in chains:
            neighbour = slot
            for share in shares:
                neighbour = following[neighbour]
                if neighbour == END:
                    break
                counts[neighbour] = get(neighbour, 0.0) + share
