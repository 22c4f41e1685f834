"""The messages that answer a question best: candidate blocks first, then the formula on them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice

from pipimem.recall.postings import rarity
from pipimem.recall.scoring import Part, scored
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.hits import Filters, Hit
from pipimem.recall.transcript.question import Group, TranscriptQuery, query_of
from pipimem.recall.transcript.transcript_index import (
    END,
    FORMULA,
    USUAL_LENGTH,
    Formula,
    Shape,
    TranscriptIndex,
    between,
)
from pipimem.text.words.index_words import GRAM

# Up to so many messages all are weighed; of more, those around the places where the question's
# words meet.
WEIGHED_ALL = 2_048
# Such a place: so many messages in a row …
_BLOCK = 4
# … and so many of them, the best, are weighed. In 100,000 messages, 97 % of the first five are then
# those that weighing all of them gives, for a fifth of the time (96 blocks of 8: 81 %; 512 of 4: 99
# %, half as long again).
_BLOCKS = 256
# The rarest words say where to look: after so many places of words the commoner ones add nothing
# new.
_MOST_PLACES = 12_000
# Where a question names a person and nothing else, their newest messages are weighed.
_NEWEST = 256


@dataclass(frozen=True, slots=True)
class Blocks:
    """The numbers of the blocks to weigh, neighbours included; None for all."""

    numbers: frozenset[int] | None = None

    def of(self, places: Sequence[int]) -> Iterable[int]:
        """Those of the places that lie in one of the blocks."""
        if self.numbers is None:
            return places
        if len(places) <= len(self.numbers) * _BLOCK:
            return [slot for slot in places if slot // _BLOCK in self.numbers]
        inside = (
            between(places, block * _BLOCK, (block + 1) * _BLOCK) for block in sorted(self.numbers)
        )
        return chain.from_iterable(inside)


def blocks_to_weigh(
    index: TranscriptIndex,
    query: TranscriptQuery,
    formula: Formula,
    passes: Callable[[int], bool] | None,
    effort: float = 1.0,
) -> Blocks:
    """The blocks where the question's words, days and people meet most, of what passes.

    With less `effort` than 1 it looks at that share of the places and blocks.
    """
    if len(index) <= WEIGHED_ALL:
        return Blocks()
    sums: dict[int, float] = {}
    seen = 0
    for weight, places in sorted(_evidence(index, query, formula), key=_count_places):
        if seen and seen + len(places) > effort * _MOST_PLACES:
            break
        seen += len(places)
        if passes is not None:
            places = _passing(places, index.threads.after, passes)
        # A word counts once a block.
        for block in {slot // _BLOCK for slot in places}:
            sums[block] = sums.get(block, 0.0) + weight
    best = heapq.nlargest(int(effort * _BLOCKS), sorted(sums), key=sums.__getitem__)
    return Blocks(frozenset(block + offset for block in best for offset in (-1, 0, 1)))


def blocks_between(start: int, end: int) -> Blocks:
    """The blocks of the slots from `start` up to `end`: few enough to weigh all of them."""
    return Blocks(frozenset(range(start // _BLOCK, end // _BLOCK + 1)))


def _passing(
    places: Iterable[int], after: Sequence[int], passes: Callable[[int], bool]
) -> list[int]:
    """Places that pass, and those that one may answer which does."""
    return [slot for slot in places if passes(slot) or (after[slot] != END and passes(after[slot]))]


def newest(index: TranscriptIndex, people: frozenset[int]) -> Sequence[int]:
    """The newest messages of some people, in order."""
    said = (slot for slot in range(len(index) - 1, -1, -1) if index.spoken_by[slot] in people)
    return list(islice(said, _NEWEST))[::-1]


def _evidence(
    index: TranscriptIndex, query: TranscriptQuery, formula: Formula
) -> Iterator[tuple[float, Sequence[int]]]:
    """The places of words, days, and people if there is nothing else, with what they may count."""
    for group in query.groups:
        for word, share in group.members:
            places = index.places(word)
            if places:
                yield group.weight * share * rarity(len(places), len(index)), places
    for span in query.spans:
        for slots in index.within(span.start, span.end):
            yield formula.date, slots
    if query.only_people:
        yield formula.person, newest(index, query.people)


def _count_places(evidence: tuple[float, Sequence[int]]) -> int:
    return len(evidence[1])


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
