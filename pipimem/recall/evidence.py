"""What the words of a question count in the items that have them, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Term(NamedTuple):
    """One word of a question: how much it counts, and what may stand in its place with what share of that."""

    word: str
    weight: float = 1.0
    instead: tuple[tuple[str, float], ...] = ()
    weak: bool = False
    """A word too common in any talk to be evidence by itself."""


class Reach(NamedTuple):
    """A term that stands somewhere: with what weight, a bound of what it adds to any item, and where.

    `said` are the places of the word itself, fewer than `slots` where others may stand in its place.
    """

    term: Term
    weight: float
    most: float
    slots: Mapping[int, float]
    said: Mapping[int, float]
    gram: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of an index to the words of a question; `totals` is slot → evidence.

    `reached` are the words that stand anywhere: first those that mean something, then the weak ones, the
    weightiest first. It looks into the index as it is now.
    """

    reached: tuple[Reach, ...]
    totals: Mapping[int, float]


def ordered(reached: Iterable[Reach]) -> tuple[Reach, ...]:
    """Terms that mean something before weak ones, of each the weightiest first; of equals the first stays first."""
    return tuple(sorted(reached, key=lambda reach: (reach.term.weak, -reach.most)))


def totals_of(reached: Sequence[Reach], floor: float = 0.0) -> dict[int, float]:
    """Slot → the sum of what the terms count in that item; `reached` is `ordered`.

    With a `floor`, an item whose words that mean something cannot add up to it may be missing; the rest is exact.
    """
    totals: dict[int, float] = {}
    left = sum([reach.most for reach in reached if not reach.term.weak])
    for reach in reached:
        # An item that has none of the terms before this one cannot come to the floor any more.
        if floor > 0 and (reach.term.weak or left < floor):
            _add_to_known(totals, reach)
        else:
            _add(totals, reach)
        if not reach.term.weak:
            left -= reach.most
    return totals


def _add(totals: dict[int, float], reach: Reach) -> None:
    weight, get = reach.weight, totals.get
    if not totals:
        totals.update({slot: weight * value for slot, value in reach.slots.items()})
        return
    for slot, value in reach.slots.items():
        totals[slot] = get(slot, 0.0) + weight * value


def _add_to_known(totals: dict[int, float], reach: Reach) -> None:
    """Adds to items that have something already, by a walk over the shorter of the two."""
    weight, slots = reach.weight, reach.slots
    if len(totals) < len(slots):
        for slot in totals:
            if slot in slots:
                totals[slot] += weight * slots[slot]
    else:
        for slot, value in slots.items():
            if slot in totals:
                totals[slot] += weight * value
