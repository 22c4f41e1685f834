"""The messages that answer a question best: by their own words first, then word by word."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

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

# The rarest words say where to look: after so many places of these, commoner words are looked for
# in …
_MOST_PLACES = 12_000
# … so many passages, the best so far, and those of their neighbours. In 60,000 messages 97 % of the
# first five are then those of looking everywhere, in half the time (256: 94 %; 1,024: 99 %, a
# quarter longer).
_KEPT = 512
# Among more than so many places for each passage, passages are searched for, else places.
_SEARCHED_FROM = 8
# Of a longer time that is asked for, so many messages.
_MOST_OF_DAYS = 1_024
# Where a question names a person and nothing else, their newest messages are weighed.
_NEWEST = 256
# Of so many messages, the best by a sum of their own words and their neighbours', the words are
# taken one by one.
_CANDIDATES = 32


def newest(index: TranscriptIndex, people: frozenset[int]) -> Sequence[int]:
    """Return the slots of the newest messages of some people, in order."""
    said = (slot for slot in range(len(index) - 1, -1, -1) if index.spoken_by[slot] in people)
    return list(islice(said, _NEWEST))[::-1]


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


_Member = tuple[float, float, Sequence[int]]
"""The rarity of a word, its share in a group, and the passages that hold it."""


def _count_places(members: Iterable[_Member]) -> int:
    return sum(len(places) for _, _, places in members)


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
    found = weighed(index, query, limit, formula, passes)
    return tuple(
        Hit(index.item(slot), scored(parts), tuple(parts), slot, rank, passage - index.firsts[slot])
        for rank, (slot, passage, parts) in enumerate(found, 1)
    )


def weighed(
    index: TranscriptIndex,
    query: TranscriptQuery,
    limit: int,
    formula: Formula,
    passes: Callable[[int], bool] | None = None,
    *,
    effort: float = 1.0,
    slots: range | None = None,
) -> list[Weighed]:
    """Return the best messages that pass, best first, with their parts; no text is read.

    With less `effort` than 1 it looks at that share of a long transcript. `slots` are the only
    messages whose words count, few enough to look at them all.
    """
    scores = _Scores(index, query, formula, passes, effort, slots)
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
        self,
        index: TranscriptIndex,
        query: TranscriptQuery,
        formula: Formula,
        passes: Callable[[int], bool] | None,
        effort: float,
        slots: range | None,
    ) -> None:
        self._index, self._query, self._formula = index, query, formula
        self._passes, self._effort = passes, effort
        self._mean = index.mean_length
        k1, b = formula.saturation, formula.length
        self._fixed, self._by_length = k1 * (1 - b), k1 * b / self._mean
        self._brevities: dict[int, float] = {}
        self._people: frozenset[int] = frozenset()
        within = (index.within(span.start, span.end) for span in query.spans)
        days = chain.from_iterable(chain.from_iterable(within))
        self._days = frozenset(islice(days, _MOST_OF_DAYS))
        # By the number of a passage, then by slot: the sum of its best passage, and which that is.
        self._totals: dict[int, float] = {}
        self._best: dict[int, float] = {}
        self._passage: dict[int, int] = {}
        self._groups = list(self._counted_groups(slots))
        owners = index.owners
        for number, total in self._totals.items():
            if total > self._best.get(owners[number], 0.0):
                self._best[owners[number]], self._passage[owners[number]] = total, number

    def _counted_groups(self, slots: range | None) -> Iterator[_GroupCounts]:
        """Yield how often each group stands where, the rarest first."""
        index = self._index
        groups = [(group, list(self._members(group))) for group in self._query.groups]
        groups.sort(key=lambda one: _count_places(one[1]))
        kept = _Kept(index.passages_between(slots)) if slots is not None else None
        seen = 0
        for group, found in groups:
            size = _count_places(found)
            if kept is None and seen and seen + size > self._effort * _MOST_PLACES:
                kept = self._best_so_far()
            seen += size
            if found:
                yield self._counted(group, found, kept)

    def _best_so_far(self) -> _Kept:
        """Return the best passages of messages that pass, or are answered by such, with what is
        around them; the totals of all others go.
        """
        index, totals = self._index, self._totals
        most = int(self._effort * _KEPT)
        best = heapq.nlargest(most, self._passing(), key=totals.__getitem__)
        slots = {index.owners[number] for number in best}.union(self._days)
        for following in (index.threads.before, index.threads.after):
            slots.update(_reached(slots, following, len(self._formula.before)))
        kept = [number for slot in sorted(slots) for number in index.passages_of(slot)]
        self._totals = {number: totals[number] for number in kept if number in totals}
        return _Kept(kept)

    def _passing(self) -> Iterable[int]:
        """Return the passages whose message passes, or is answered by one that does."""
        passes = self._passes
        if passes is None:
            return self._totals
        owners, after = self._index.owners, self._index.threads.after
        found: list[int] = []
        for number in self._totals:
            slot = owners[number]
            if passes(slot) or (after[slot] != END and passes(after[slot])):
                found.append(number)
        return found

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

    def _members(self, group: Group) -> Iterator[_Member]:
        """Yield each member of a group that stands somewhere."""
        total = len(self._index.owners)
        for word, share in group.members:
            places = self._index.places(word)
            if places:
                yield rarity(len(places), total), share, places

    def _counted(
        self,
        group: Group,
        found: Sequence[_Member],
        kept: _Kept | None,
    ) -> _GroupCounts:
        """Return how often a group stands where, with what it gives added to the totals.

        Its members are one word: their counts are added up, each with its share and what its rarity
        is to that of the word of the question.
        """
        highest = max(rare for rare, _, _ in found)
        if found[0][1] == 1.0:  # the word of the question stands somewhere
            highest = found[0][0]
        counts: dict[int, float] = {}
        get = counts.get
        for rare, share, places in found:
            weight = share * (min(1.0, rare / highest) if highest else 1.0)
            for number in kept.of(places) if kept else places:
                counts[number] = get(number, 0.0) + weight
        scale = group.weight * highest
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


class _Kept:
    """The passages, in order, in which the commoner words of a question are looked for."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers, self._set = numbers, frozenset(numbers)

    def of(self, places: Sequence[int]) -> Iterable[int]:
        """Return those of the places that are kept."""
        if len(places) <= _SEARCHED_FROM * len(self._numbers):
            return [number for number in places if number in self._set]
        return chain.from_iterable(between(places, number, number + 1) for number in self._numbers)


def _reached(slots: Iterable[int], following: Sequence[int], steps: int) -> set[int]:
    """Return the messages that so many steps along a thread lead to."""
    found: set[int] = set()
    reached = list(slots)
    for _ in range(steps):
        reached = [following[slot] for slot in reached if following[slot] != END]
        found.update(reached)
    return found
