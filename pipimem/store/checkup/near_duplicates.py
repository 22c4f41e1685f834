"""Which texts of many are nearly alike, without comparing each with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pipimem.text.prefix_filter import rarest
from pipimem.text.similarity import NEARLY_ALIKE, Statement, alike

# Of a list of a thousand like lines nobody reads more.
MOST_COMPARED = 64


def alike_earlier(statements: Sequence[Statement]) -> Iterator[list[int]]:
    """For each text the places of the earlier ones that are nearly alike, in order.

    Only those that share one of the rarest pairs of letters are compared, `MOST_COMPARED` at most.
    """
    spread = Counter(gram for each in statements for gram in each.grams)
    holding: dict[str, list[int]] = {}
    for place, each in enumerate(statements):
        rare = rarest(each.grams, spread, NEARLY_ALIKE)
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
