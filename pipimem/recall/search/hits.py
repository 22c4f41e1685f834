"""A message that was found, and why."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.recall.explaining import Part
from pipimem.recall.items import Item


@dataclass(frozen=True, slots=True)
class Hit:
    """A message with its score and the parts that add up to it; `slot` is its place in the index, `rank` from 1."""

    item: Item
    score: float
    parts: tuple[Part, ...]
    slot: int
    rank: int
