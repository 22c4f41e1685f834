"""Things said twice, shown once."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.recall.index import Index
from pipimem.recall.ranking import Candidate
from pipimem.text.similarity import NEAR_DUPLICATE, jaccard, near_duplicate


def deduped(candidates: Iterable[Candidate], index: Index, most: int) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same; of two that do, the better ranked stays."""
    kept: list[tuple[Candidate, frozenset[str]]] = []
    for candidate in candidates:
        bag = index.bag(candidate.slot)
        words = frozenset(bag.words)
        # The share of common words first: it is cheap, and nearly always settles it.
        if not any(
            jaccard(words, others) > NEAR_DUPLICATE and near_duplicate(bag, index.bag(other.slot))
            for other, others in kept
        ):
            kept.append((candidate, words))
            if len(kept) == most:
                break
    return tuple(candidate for candidate, _ in kept)
