"""An item that was found for a question, with what spoke for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipimem.recall.items import Item
from pipimem.recall.scoring import Part, scored

# What speaks for an item beside its words, and how many hundredths of its evidence it adds.
Circumstance = tuple[str, float]


class Candidate(NamedTuple):
    """An item that was found: its score, how many words it shares, its rank from 1 once known.

    `values` are what spoke for it, by `names`, 0.0 for what did not; `circumstances` add hundredths
    of their sum. The first `strong` of the values are those of words that mean something. A tuple,
    for a turn makes two dozen and a frozen class costs four times that.
    """

    item: Item
    score: float
    matches: int
    slot: int
    names: Sequence[str] = ()
    values: Sequence[float] = ()
    circumstances: Sequence[Circumstance] = ()
    rank: int = 0
    strong: int = 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts whose sum, from left to right, is the score; made for who asks why."""
        named = zip(self.names, self.values, strict=True)
        evidence = [Part(name, value) for name, value in named if value]
        total = scored(evidence)
        added = [Part(name, total * part / 100) for name, part in self.circumstances]
        return (*evidence, *added)
