"""Which texts of many are nearly alike, without comparing each with each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from pipimem.text.similarity import NEARLY_ALIKE, Statement, alike

# Of a list of a thousand like lines nobody reads more.
MOST_COMPARED = 64
# Texts with Dice's coefficient t share at least this much of the pairs of either: t / (2 - t).
_SHARED = NEARLY_ALIKE / (2 - NEARLY_ALIKE)


def alike_earlier(statements: Sequence[Statement]) -> Iterator[list[int]]:
    """For each text the places of the earlier ones that are nearly alike, in order.

    Two that share so many pairs of letters share one among the rarest of either (the prefix filter
    of set-similarity joins), so only those that do are compared, `MOST_COMPARED` at most.
    """
    spread = Counter(gram for each in statements for gram in each.grams)
    holding: dict[str, list[int]] = {}
    for place, each in enumerate(statements):
        by_rarity = sorted(each.grams, key=lambda gram: (spread[gram], gram))
        rare = by_rarity[: len(by_rarity) - math.ceil(_SHARED * len(by_rarity)) + 1]
        candidates = _candidates(rare, holding)
        yield [other for other in candidates if _are_alike(each, statements[other])]
        for gram in rare:
            holding.setdefault(gram, []).append(place)


def _candidates(rare: Sequence[str], holding: dict[str, list[int]]) -> list[int]:
    found: set[int] = set()
    for gram in rare:
        room = MOST_COMPARED - len(found)
        if room <= 0:
            break
        found.update(holding.get(gram, ())[:room])
    return sorted(found)


def _are_alike(one: Statement, other: Statement) -> bool:
    # Dice's coefficient is at most this, whatever the texts: most pairs need no look.
    sizes = len(one.grams), len(other.grams)
    if 2 * min(sizes) < NEARLY_ALIKE * sum(sizes):
        return False
    return alike(one.grams, other.grams) >= NEARLY_ALIKE
