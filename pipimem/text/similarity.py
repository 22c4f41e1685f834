"""How much two texts share of their words, and whether that makes one the copy of the other."""

from __future__ import annotations

from collections.abc import Set

from pipimem.text.words import Bag

# Above this share of common words two entries say the same to a reader (the design's number).
NEAR_DUPLICATE = 0.7


def jaccard(a: Set[str], b: Set[str]) -> float:
    """|a ∩ b| / |a ∪ b|; 0.0 when both are empty, for nothing is not the same as nothing."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def near_duplicate(a: Bag, b: Bag, threshold: float = NEAR_DUPLICATE) -> bool:
    """Whether two texts say the same.

    Never when their numbers or dates differ, or one negates: "the limit is 20" corrects "the limit is 30",
    it is not its copy.
    """
    if a.negations % 2 != b.negations % 2:
        return False
    words_a, words_b = frozenset(a.words), frozenset(b.words)
    if _numbers(words_a) != _numbers(words_b):
        return False
    return jaccard(words_a, words_b) > threshold


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdecimal() for character in word))
