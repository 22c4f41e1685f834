"""What the words of a question count in the items that have them, and a score as its addends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct


class Term(NamedTuple):
    """One word of a question: how much it counts, and what may stand in its place with which share.

    `weak` is a word too common in any talk to be evidence by itself. `written` is the word before
    it was cut to its stem, empty where that is the same.
    """

    word: str
    weight: float = 1.0
    instead: tuple[tuple[str, float], ...] = ()
    weak: bool = False
    written: str = ""


class MatchedTerm(NamedTuple):
    """A term that stands somewhere, with its weight and, by slot, the impact it has there.

    `highest` is a bound of what it adds to any item. `literal` are the slots of the word itself,
    fewer than those of `impacts` where others may stand in its place.
    """

    term: Term
    weight: float
    highest: float
    impacts: Mapping[int, float]
    literal: Mapping[int, float]
    is_gram: bool = False


class Matches(Struct, frozen=True):
    """The answer of an index to the words of a question; `totals` is slot → evidence.

    `terms` are those that stand anywhere: first those that mean something, then the weak ones, the
    weightiest first. It looks into the index as it is now.
    """

    terms: tuple[MatchedTerm, ...]
    totals: Mapping[int, float]


class Part(NamedTuple):
    """One addend of a score.

    A tuple, for a turn makes a hundred of them and a frozen class costs three times that.
    """

    name: str
    value: float


def scored(parts: Iterable[Part]) -> float:
    """The sum of the parts, from left to right, so that anyone gets the very same number."""
    total = 0.0
    for part in parts:
        total += part.value
    return total


def explained(parts: Sequence[Part]) -> str:
    """The parts as one line: `port 0.412 + nimbus 0.953 + source memory 0.109 = 1.474`."""
    added = " + ".join(f"{part.name} {part.value:.3f}" for part in parts)
    return f"{added} = {scored(parts):.3f}"


def ordered(terms: Iterable[MatchedTerm]) -> tuple[MatchedTerm, ...]:
    """Terms that mean something before weak ones, of each the weightiest first."""
    return tuple(sorted(terms, key=lambda matched: (matched.term.weak, -matched.highest)))


def totals_of(terms: Sequence[MatchedTerm], floor: float = 0.0) -> dict[int, float]:
    """Slot → the sum of what the terms count in that item; `terms` are `ordered`.

    With a `floor`, an item whose words that mean something cannot add up to it may be missing; the
    rest is exact.
    """
    totals: dict[int, float] = {}
    remaining = sum([matched.highest for matched in terms if not matched.term.weak])
    for matched in terms:
        # An item that has none of the terms before this one cannot come to the floor any more.
        if floor > 0 and (matched.term.weak or remaining < floor):
            _add_to_known(totals, matched)
        else:
            _add(totals, matched)
        if not matched.term.weak:
            remaining -= matched.highest
    return totals


def _add(totals: dict[int, float], matched: MatchedTerm) -> None:
    weight, get = matched.weight, totals.get
    if not totals:
        totals.update({slot: weight * value for slot, value in matched.impacts.items()})
        return
    for slot, value in matched.impacts.items():
        totals[slot] = get(slot, 0.0) + weight * value


def _add_to_known(totals: dict[int, float], matched: MatchedTerm) -> None:
    """Adds to items that have something already, by a walk over the shorter of the two."""
    weight, impacts = matched.weight, matched.impacts
    if len(totals) < len(impacts):
        for slot in totals:
            if slot in impacts:
                totals[slot] += weight * impacts[slot]
    else:
        for slot, value in impacts.items():
            if slot in totals:
                totals[slot] += weight * value
