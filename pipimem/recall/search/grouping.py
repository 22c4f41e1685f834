"""What was said again in the same words, told with the hit that said it best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipimem.recall.search.hits import Hit
from pipimem.text.similarity import near_duplicate
from pipimem.text.words import Bag, Words


@dataclass(frozen=True, slots=True)
class Said:
    """A hit, and those after it that say the same."""

    hit: Hit
    again: tuple[Hit, ...] = ()


def grouped(hits: Iterable[Hit], words: Words) -> tuple[Said, ...]:
    """The hits in their order, each with the later ones that are nearly its copies."""
    groups: list[tuple[Bag, list[Hit]]] = []
    for hit in hits:
        bag = words.bag(hit.item.text)
        same = next((said for other, said in groups if near_duplicate(bag, other)), None)
        if same is None:
            groups.append((bag, [hit]))
        else:
            same.append(hit)
    return tuple(Said(first, tuple(again)) for _, (first, *again) in groups)
