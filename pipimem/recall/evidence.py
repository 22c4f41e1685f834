"""What the words of a question count in the items that have them, added up no further than it can matter."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from pipimem.recall.postings import LONG, impact

# Below this many places of its words a question is answered sooner by adding up everything.
_FEW = 1_000
# The items of a word that stands in so few are all weighed first: then little else can still come to the front.
_RARE = 64
# A size has room for two lengths of up to `LONG`.
_BITS = 8
# For the rounding of sums.
_A_HAIR = 1 - 1e-9


_NOWHERE: Mapping[int, float] = MappingProxyType({})


class Term(NamedTuple):
    """One word of a question: how much it counts, and what may stand in its place with what share of that."""

    word: str
    weight: float = 1.0
    instead: tuple[tuple[str, float], ...] = ()
    weak: bool = False
    """A word too common in any talk to be evidence by itself."""


class Share(NamedTuple):
    """What one word of a question counts in one item; a tuple for the same reason as `Part`."""

    word: str
    value: float
    weight: float = 1.0
    weak: bool = False
    gram: bool = False


class Reach(NamedTuple):
    """A term that stands somewhere: with what weight, the most it adds to any item, and where.

    `times` is how often it stands in an item at most; 0 where its places are put together from several words.
    `said` are then the places of the word itself.
    """

    term: Term
    weight: float
    most: float
    slots: Mapping[int, float]
    gram: bool = False
    times: int = 0
    said: Mapping[int, float] = _NOWHERE

    def is_said(self, slot: int) -> bool:
        """Whether an item holds the word itself, not only what stands in its place."""
        return bool(self.times) or slot in self.said


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of an index to the words of a question; `totals` is slot → evidence.

    `reached` are the words that stand anywhere: first those that mean something, then the weak ones, the
    weightiest first. It looks into the index as it is now: what is to be kept, `shares` copies.
    """

    reached: tuple[Reach, ...]
    totals: Mapping[int, float]

    def shares(self, slot: int) -> list[Share]:
        """The parts of an item's evidence, in the order they were added up."""
        return [
            Share(reach.term.word, reach.weight * reach.slots[slot], reach.term.weight, reach.term.weak, reach.gram)
            for reach in self.reached
            if slot in reach.slots
        ]


@dataclass(frozen=True, slots=True)
class Reached:
    """The terms of a question that stand anywhere, the weightiest first: those that mean something, and the weak."""

    strong: tuple[Reach, ...]
    weak: tuple[Reach, ...]

    @classmethod
    def of(cls, reached: Sequence[Reach]) -> Reached:
        """Terms in any order; of equals the first stays first."""
        ordered = sorted(reached, key=lambda reach: reach.most, reverse=True)
        return cls(
            tuple([reach for reach in ordered if not reach.term.weak]),
            tuple([reach for reach in ordered if reach.term.weak]),
        )

    def totals(self, *, floor: float = 0.0) -> dict[int, float]:
        """For each item the sum of what the terms count in it.

        With a `floor`, an item whose words that mean something cannot add up to it may be missing; the rest is exact.
        """
        totals: dict[int, float] = {}
        opened = self._opened(floor)
        for place, reach in enumerate(self.strong):
            _added(totals, reach, only_known=place >= opened)
        for reach in self.weak:
            _added(totals, reach, only_known=floor > 0)
        return totals

    def strongest(self, sizes: Sequence[int], most: int, *, floor: float, share: float) -> dict[int, float]:
        """The `most` items of `totals` with the highest sums, best first; of equals those that came first.

        What stays below `share` of the best may be missing. `sizes` are those of the items, by slot (`size_of`).
        """
        opened = self._opened(floor)
        if sum([len(reach.slots) for reach in (*self.strong, *self.weak)[:opened]]) <= _FEW:
            return dict(heapq.nlargest(most, self.totals(floor=floor).items(), key=itemgetter(1)))
        return _Contest(self, sizes, most, share).strongest(opened)

    def _opened(self, floor: float) -> int:
        """How many of the terms may bring in an item: with all that mean something behind it, it may reach the floor."""
        if floor <= 0:
            return len(self.strong) + len(self.weak)
        left = sum([reach.most for reach in self.strong])
        for place, reach in enumerate(self.strong):
            if left < floor:
                return place
            left -= reach.most
        return len(self.strong)


class _Contest:
    """The strongest items so far, and what another must beat.

    How much an item can have at most is known by its length alone, before any of its words is looked up: nearly all
    are passed over with one comparison (the idea of MaxScore, Turtle and Flood 1995, with a bound for each length).
    """

    def __init__(self, reached: Reached, sizes: Sequence[int], most: int, share: float) -> None:
        self._lists = (*reached.strong, *reached.weak)
        self._strong = [(reach.weight, reach.slots.get) for reach in reached.strong]
        self._weak = [(reach.weight, reach.slots.get) for reach in reached.weak]
        # Rounded up: a hair more is looked at, nothing missed.
        self._weak_most = sum([reach.most for reach in reached.weak]) / _A_HAIR
        self._sizes, self._most, self._share = sizes, most, share
        self._standing: list[tuple[float, int, int]] = []  # a heap of total, order turned round, slot
        self._entered = 0
        self._best = self._low = 0.0

    def strongest(self, opened: int) -> dict[int, float]:
        """Slot → total; the first `opened` terms bring items in."""
        exact = self._rare_ones(opened)
        for place in range(opened):
            self._weigh_list(place, exact)
        ordered = sorted(self._standing, key=lambda one: (-one[0], -one[1]))
        return {slot: total for total, _, slot in ordered}

    def _rare_ones(self, opened: int) -> dict[int, float]:
        """The totals of the items with a rare word: they set the bar for the rest, however these stand."""
        rare = {slot for reach in self._lists if len(reach.slots) <= _RARE for slot in reach.slots}
        brought = sorted(slot for slot in rare if any(slot in reach.slots for reach in self._lists[:opened]))
        exact = {slot: self._total(slot) for slot in brought}
        self._best = max(exact.values(), default=0.0)
        strongest = heapq.nlargest(self._most, exact.values())
        last = strongest[-1] if len(strongest) == self._most else 0.0
        # A hair less: what only equals the last of them may stand before it.
        self._low = max(self._share * self._best, last) * _A_HAIR
        return exact

    def _weigh_list(self, place: int, exact: Mapping[int, float]) -> None:
        """Weigh the items that come in with one term."""
        slots, earlier = self._lists[place].slots, [reach.slots for reach in self._lists[:place]]
        common = [reach for reach in self._lists[place:] if len(reach.slots) > _RARE]
        if sum([reach.most for reach in common]) <= self._low:
            slots = {slot: total for slot, total in exact.items() if slot in slots}
        bounds: dict[int, float] = {}
        sizes = self._sizes
        for slot in slots:
            size = sizes[slot]
            if (bound := bounds.get(size)) is None:
                bound = bounds[size] = _bound(common, size)
            if slot in exact or bound > self._low:
                self._enter(slot, exact.get(slot, 0.0), earlier)

    def _total(self, slot: int) -> float:
        """What an item has; less, where what its strong words lack no weak ones could make good."""
        total = 0.0
        for weight, get in self._strong:
            if (value := get(slot)) is not None:
                total += weight * value
        if total + self._weak_most > self._low:
            for weight, get in self._weak:
                if (value := get(slot)) is not None:
                    total += weight * value
        return total

    def _enter(self, slot: int, total: float, earlier: Sequence[Mapping[int, float]]) -> None:
        standing = self._standing
        for others in earlier:
            if slot in others:
                return  # it came in with another term
        total = total or self._total(slot)
        self._entered += 1
        one = (total, -self._entered, slot)
        if len(standing) < self._most:
            heapq.heappush(standing, one)
        elif total > standing[0][0]:
            heapq.heapreplace(standing, one)
        self._best = max(self._best, total)
        last = standing[0][0] if len(standing) == self._most else 0.0
        self._low = max(self._low, self._share * self._best * _A_HAIR, last)


def size_of(words: int, grams: int) -> int:
    """How long an item is, as one number: what of its length counts for its impacts."""
    return min(words, LONG) << _BITS | min(grams, LONG)


def _bound(reached: Sequence[Reach], size: int) -> float:
    """What an item of this size can have at most; added up in the order of its total, so that this is never less."""
    words, grams = size >> _BITS, size & (1 << _BITS) - 1
    bound = 0.0
    for reach in reached:
        most = reach.weight * impact(reach.times, grams if reach.gram else words) if reach.times else reach.most
        bound += most
    return bound


def _added(totals: dict[int, float], reach: Reach, *, only_known: bool) -> None:
    """Add what one term counts to the totals; `only_known` adds to items that have something already."""
    weight, slots = reach.weight, reach.slots
    if not only_known:
        get = totals.get
        for slot, value in slots.items():
            totals[slot] = get(slot, 0.0) + weight * value
    elif len(totals) < len(slots):
        for slot in totals:
            if slot in slots:
                totals[slot] += weight * slots[slot]
    else:
        for slot in slots:
            if slot in totals:
                totals[slot] += weight * slots[slot]
