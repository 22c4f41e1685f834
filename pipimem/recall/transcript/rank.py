"""The messages that answer a question best: candidate blocks first, then the formula on them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

from msgspec import Struct

from pipimem.recall.postings import rarity
from pipimem.recall.scoring import Part, scored
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.hits import Filters, Hit
from pipimem.recall.transcript.question import Group, TranscriptQuery, query_of
from pipimem.recall.transcript.transcript_index import (
    END,
    FORMULA,
    Formula,
    Shape,
    TranscriptIndex,
    between,
)
from pipimem.text.words.index_words import GRAM

# Up to so many passages all are weighed; of more, those around the places where the question's
# words meet.
WEIGHED_ALL = 2_048
# Such a place: so many passages in a row …
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
# Of so many messages, the best by a sum of their own words and their neighbours', the words are
# taken one by one.
_CANDIDATES = 32


class Blocks(Struct, frozen=True):
    """The numbers of the blocks of passages to weigh, neighbours included; None for all."""

    numbers: frozenset[int] | None = None

    def of(self, places: Sequence[int]) -> Iterable[int]:
        """Those of the places that lie in one of the blocks."""
        if self.numbers is None:
            return places
        if len(places) <= len(self.numbers) * _BLOCK:
            return [number for number in places if number // _BLOCK in self.numbers]
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
    """Return the blocks where the question's words, days and people meet most, of what passes.

    With less `effort` than 1 it looks at that share of the places and blocks.
    """
    if len(index.owners) <= WEIGHED_ALL:
        return Blocks()
    sums: dict[int, float] = {}
    seen = 0
    for weight, places in sorted(_evidence(index, query, formula), key=_count_places):
        if seen and seen + len(places) > effort * _MOST_PLACES:
            break
        seen += len(places)
        if passes is not None:
            places = _passing(index, places, passes)
        # A word counts once a block.
        for block in {number // _BLOCK for number in places}:
            sums[block] = sums.get(block, 0.0) + weight
    best = heapq.nlargest(int(effort * _BLOCKS), sorted(sums), key=sums.__getitem__)
    return Blocks(frozenset(block + offset for block in best for offset in (-1, 0, 1)))


def blocks_between(index: TranscriptIndex, start: int, end: int) -> Blocks:
    """Return the blocks of the messages from `start` up to `end`, few enough to weigh them all."""
    if start >= end:
        return Blocks(frozenset())
    first, last = index.passages_of(start).start, index.passages_of(end - 1).stop
    return Blocks(frozenset(range(first // _BLOCK, last // _BLOCK + 1)))


def _passing(
    index: TranscriptIndex, places: Iterable[int], passes: Callable[[int], bool]
) -> list[int]:
    """Return the passages of messages that pass, and of those that such a message may answer."""
    owners, after = index.owners, index.threads.after
    return [
        number
        for number in places
        if passes(owners[number])
        or (after[owners[number]] != END and passes(after[owners[number]]))
    ]


def newest(index: TranscriptIndex, people: frozenset[int]) -> Sequence[int]:
    """Return the slots of the newest messages of some people, in order."""
    said = (slot for slot in range(len(index) - 1, -1, -1) if index.spoken_by[slot] in people)
    return list(islice(said, _NEWEST))[::-1]


def _evidence(
    index: TranscriptIndex, query: TranscriptQuery, formula: Formula
) -> Iterator[tuple[float, Sequence[int]]]:
    """Yield the passages of words, days, and people alone, with what they may count."""
    for group in query.groups:
        for word, share in group.members:
            places = index.places(word)
            if places:
                yield group.weight * share * rarity(len(places), len(index.owners)), places
    for span in query.spans:
        for slots in index.within(span.start, span.end):
            yield formula.date, [index.firsts[slot] for slot in slots]
    if query.only_people:
        yield formula.person, [index.firsts[slot] for slot in newest(index, query.people)]


def _count_places(evidence: tuple[float, Sequence[int]]) -> int:
    return len(evidence[1])


_SHAPES = (Shape.TIME, Shape.NUMBER, Shape.NAME)
_QUESTION = int(Shape.QUESTION)


def spoken_by_or_to(
    index: TranscriptIndex, people: frozenset[int], slots: Iterable[int]
) -> list[int]:
    """Return those of the slots that one of the people said, or the bot to them."""
    spoken_by, threads = index.spoken_by, index.threads.of
    return [slot for slot in slots if spoken_by[slot] in people or threads[slot] in people]


class Boosts:
    """What a message's words count more for who said it, on which day, and what it has."""

    def __init__(self, index: TranscriptIndex, query: TranscriptQuery, formula: Formula) -> None:
        self._index, self._people, self._formula = index, query.people, formula
        days = (index.within(span.start, span.end) for span in query.spans)
        self._dated = frozenset(chain.from_iterable(chain.from_iterable(days)))
        bonuses = zip(_SHAPES, (formula.time, formula.number, formula.name), strict=True)
        self._wanted = {
            int(shape): (f"has a {str(shape.name).lower()}", bonus)
            for shape, bonus in bonuses
            if shape & query.wanted
        }
        # There are 32 shapes, and a thousand messages to weigh.
        shapes = range(1 << len(Shape))
        self._by_shape = [1 + sum(bonus for _, bonus in self._shape(shape)) for shape in shapes]
        # In a talk without a bot all words are people's own.
        names = index.role_names if "assistant" in index.role_names else []
        self._by_role = [
            formula.of_role.get(name, 0.0) if name == query.answered_by else 0.0 for name in names
        ]

    def boosted(self, totals: Mapping[int, float]) -> Iterator[tuple[float, int]]:
        """Yield each whole score with its slot negated: of equals the earlier is the larger."""
        shapes, by_shape, roles = self._index.shapes, self._by_shape, self._index.roles
        by_role = self._by_role
        spoken = self._spoken(totals)
        for slot, value in totals.items():
            factor = by_shape[shapes[slot]]
            if by_role:
                factor += by_role[roles[slot]]
            if slot in spoken:
                factor += self._formula.spoken
            if slot in self._dated:
                factor += self._formula.dated
            yield value * factor, -slot

    def of(self, slot: int) -> Iterator[tuple[str, float]]:
        """Yield each circumstance of a message and what it adds to 1."""
        yield from self._shape(self._index.shapes[slot])
        role = self._index.roles[slot]
        if self._by_role and self._by_role[role]:
            yield f"said by the {self._index.role_names[role]}", self._by_role[role]
        if self._spoken((slot,)):
            yield "of whom is named", self._formula.spoken
        if slot in self._dated:
            yield "of that day", self._formula.dated

    def _spoken(self, slots: Iterable[int]) -> frozenset[int]:
        return frozenset(spoken_by_or_to(self._index, self._people, slots) if self._people else ())

    def _shape(self, shape: int) -> Iterator[tuple[str, float]]:
        if shape & _QUESTION:
            yield "only asks", -self._formula.question
        for wanted, bonus in self._wanted.items():
            if shape & wanted:
                yield bonus


class Weighed(NamedTuple):
    """A message by its slot, the number of its best passage, and what speaks for it."""

    slot: int
    passage: int
    parts: Sequence[Part]


class _GroupCounts(NamedTuple):
    """A group of words, what it counts, and how often it stands in passages and messages."""

    name: str
    scale: float
    passages: Mapping[int, float]
    messages: Mapping[int, float]


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
    """Return the messages that say most about `text`, best first, the earlier of equals first."""
    query = query_of(text, index, now=now, synonyms=synonyms, formula=formula)
    passes = filters.gate(index) if filters else None
    blocks = blocks_to_weigh(index, query, formula, passes)
    found = weighed(index, query, limit, formula, blocks, passes)
    return tuple(
        Hit(index.item(slot), scored(parts), tuple(parts), slot, rank, passage - index.firsts[slot])
        for rank, (slot, passage, parts) in enumerate(found, 1)
    )


def weighed(
    index: TranscriptIndex,
    query: TranscriptQuery,
    limit: int,
    formula: Formula,
    blocks: Blocks,
    passes: Callable[[int], bool] | None = None,
) -> list[Weighed]:
    """Return the best messages that pass, best first, with their parts; no text is read."""
    scores = _Scores(index, query, formula, blocks)
    boosts = Boosts(index, query, formula)
    boosted = boosts.boosted(scores.rough())
    if passes is not None:
        boosted = (pair for pair in boosted if passes(-pair[1]))
    found: list[tuple[float, int, Weighed]] = []
    for _, negated in heapq.nlargest(max(_CANDIDATES, 2 * limit), boosted):
        candidate = scores.of(-negated)
        total = scored(candidate.parts)
        parts = [Part(name, total * value) for name, value in boosts.of(-negated)]
        whole = candidate._replace(parts=[*candidate.parts, *parts])
        found.append((scored(whole.parts), negated, whole))
    return [whole for _, _, whole in heapq.nlargest(limit, found, key=lambda one: one[:2])]


class _Scores:
    """BM25 of messages over their best passage and, for less, over their neighbours' words."""

    def __init__(
        self, index: TranscriptIndex, query: TranscriptQuery, formula: Formula, blocks: Blocks
    ) -> None:
        self._index, self._query, self._formula, self._blocks = index, query, formula, blocks
        self._mean = index.mean_length
        k1, b = formula.saturation, formula.length
        self._fixed, self._by_length = k1 * (1 - b), k1 * b / self._mean
        self._totals: dict[int, float] = {}
        found = (self._counted(group) for group in query.groups)
        self._groups = [counts for counts in found if counts is not None]
        # By slot: the sum of its best passage, and which that is.
        self._best: dict[int, float] = {}
        self._passage: dict[int, int] = {}
        owners = index.owners
        for number, total in self._totals.items():
            if total > self._best.get(owners[number], 0.0):
                self._best[owners[number]], self._passage[owners[number]] = total, number
        self._days = frozenset(chain.from_iterable(self._days_asked_for()))
        self._people: frozenset[int] = frozenset()
        self._brevities: dict[int, float] = {}

    def rough(self) -> Mapping[int, float]:
        """Return about what each message counts: its own words and those of its neighbours."""
        totals = dict(self._best)
        get, threads, formula = totals.get, self._index.threads, self._formula
        chains = ((threads.after, formula.before), (threads.before, formula.after))
        for slot in heapq.nlargest(2 * _CANDIDATES, self._best, key=self._best.__getitem__):
            value = self._best[slot] * self._brevity(slot)
            for following, shares in chains:
                neighbour = slot
                for share in shares:
                    neighbour = following[neighbour]
                    if neighbour == END:
                        break
                    totals[neighbour] = get(neighbour, 0.0) + share * value
        for slot in self._days:
            totals[slot] = get(slot, 0.0) + self._formula.date
        if self._query.people:
            said = spoken_by_or_to(self._index, self._query.people, totals)
            if self._query.only_people:
                said += newest(self._index, self._query.people)
            self._people = frozenset(said)
            for slot in self._people:
                totals[slot] = get(slot, 0.0) + self._formula.person
        return totals

    def of(self, slot: int) -> Weighed:
        """Return a message with its addends by name; pairs of characters are one."""
        number = self._passage.get(slot, self._index.firsts[slot])
        near = self._neighbours(slot)
        parts: dict[str, float] = {}
        for group in self._groups:
            value = self._impact(group, number, near)
            if value:
                name = "pairs of characters" if group.name.startswith(GRAM) else group.name
                parts[name] = parts.get(name, 0.0) + value
        if slot in self._days:
            parts["on that day"] = self._formula.date
        if slot in self._people:
            parts["said by whom is named"] = self._formula.person
        return Weighed(slot, number, [Part(name, value) for name, value in parts.items()])

    def _impact(self, group: _GroupCounts, number: int, near: Sequence[tuple[int, float]]) -> float:
        """Return what a word counts in a passage with the messages `near` it.

        What has it from neighbours alone comes behind each neighbour.
        """
        own = count = group.passages.get(number, 0.0)
        counts = group.messages
        borrowed: list[int] = []
        for slot, share in near:
            if slot in counts:
                count += share * counts[slot]
                borrowed.append(slot)
        if own or not borrowed:
            return group.scale * self._saturated(count, number) if count else 0.0
        theirs = max([self._saturated(counts[slot], self._passage[slot]) for slot in borrowed])
        most = min(self._formula.borrowed * theirs, self._saturated(count, number))
        return group.scale * most

    def _saturated(self, count: float, number: int) -> float:
        """Return BM25's saturated count for a passage of that length."""
        norm = self._fixed + self._by_length * self._index.lengths[number]
        return count * (self._formula.saturation + 1) / (count + norm)

    def _neighbours(self, slot: int) -> list[tuple[int, float]]:
        """Return the messages around one in its thread, with what their words count in it."""
        threads, formula = self._index.threads, self._formula
        found: list[tuple[int, float]] = []
        for following, shares in ((threads.before, formula.before), (threads.after, formula.after)):
            neighbour = slot
            for share in shares:
                neighbour = following[neighbour]
                if neighbour == END:
                    break
                if neighbour in self._best:
                    found.append((neighbour, share * self._brevity(neighbour)))
        return found

    def _brevity(self, slot: int) -> float:
        """Return 1 for a message of usual length; of a longer one each word says less."""
        known = self._brevities.get(slot)
        if known is None:
            excess = max(0.0, self._index.length_of(slot) / self._mean - 1)
            known = self._brevities[slot] = 1 / (1 + self._formula.brevity * excess)
        return known

    def _counted(self, group: Group) -> _GroupCounts | None:
        """Return how often a group stands where, with what it gives added to the totals.

        Its members are one word: their counts are added up, each with its share and what its rarity
        is to that of the word of the question. None where none stands anywhere.
        """
        index, total = self._index, len(self._index.owners)
        known = [(share, index.places(word)) for word, share in group.members]
        found = [(rarity(len(places), total), share, places) for share, places in known if places]
        if not found:
            return None
        highest = max(rare for rare, _, _ in found)
        if found[0][1] == 1.0:  # the word of the question stands somewhere
            highest = found[0][0]
        counts: dict[int, float] = {}
        get = counts.get
        for rare, share, places in found:
            weight = share * (min(1.0, rare / highest) if highest else 1.0)
            for number in self._blocks.of(places):
                counts[number] = get(number, 0.0) + weight
        scale = group.weight * highest**self._formula.rarity
        return _GroupCounts(group.name, scale, counts, self._added(counts, scale))

    def _added(self, counts: Mapping[int, float], scale: float) -> Mapping[int, float]:
        """Add what a word gives to the totals of passages; return its highest count by message."""
        totals, owners, lengths = self._totals, self._index.owners, self._index.lengths
        get, fixed, by_length = totals.get, self._fixed, self._by_length
        scale *= self._formula.saturation + 1
        messages: dict[int, float] = {}
        for number, count in counts.items():
            value = scale * count / (count + fixed + by_length * lengths[number])
            totals[number] = get(number, 0.0) + value
            slot = owners[number]
            if count > messages.get(slot, 0.0):
                messages[slot] = count
        return messages

    def _days_asked_for(self) -> Iterator[list[int]]:
        for span in self._query.spans:
            for slots in self._index.within(span.start, span.end):
                numbers = self._blocks.of([self._index.firsts[slot] for slot in slots])
                yield [self._index.owners[number] for number in numbers]
