"""How much two texts share of their words, and whether that makes one the copy of the other."""

from __future__ import annotations

import re
from collections.abc import Set

from pipimem.text.stopwords import STOP_WORDS
from pipimem.text.words import Bag

# Above this share of common words two entries say the same to a reader (the design's number).
NEAR_DUPLICATE = 0.7
# What is written in one piece: words, paths, versions. A full stop at its end is the sentence's.
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-_./@:\\'’][A-Za-z0-9]+)*")


def jaccard(a: Set[str], b: Set[str]) -> float:
    """|a ∩ b| / |a ∪ b|; 0.0 when both are empty, for nothing is not the same as nothing."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def near_duplicate(a: Bag, b: Bag, threshold: float = NEAR_DUPLICATE) -> bool:
    """Whether two texts say the same.

    Never when their numbers or dates differ, or one negates: "the limit is 20" corrects "the limit is 30",
    it is not its copy. Nor when one Chinese word stands in the place of one other: that may be a name.
    """
    if a.negations % 2 != b.negations % 2:
        return False
    words_a, words_b = frozenset(a.words), frozenset(b.words)
    if _numbers(words_a) != _numbers(words_b) or (_chinese(words_a - words_b) == 1 == _chinese(words_b - words_a)):
        return False
    return jaccard(words_a, words_b) > threshold


def names_differ(a: str, b: str) -> bool:
    """Whether either of two texts has a name, a letter or an identifier that the other has not.

    "Server A is in Berlin" is no copy of "server B is in Berlin", though all their longer words are the same.
    """
    tokens_a, tokens_b = _TOKEN.findall(a), _TOKEN.findall(b)
    known_a, known_b = {token.casefold() for token in tokens_a}, {token.casefold() for token in tokens_b}
    return any(
        token.casefold() not in known and _is_name(token)
        for tokens, known in ((tokens_a, known_b), (tokens_b, known_a))
        for token in tokens
    )


def _is_name(piece: str) -> bool:
    if len(piece) == 1:
        return piece not in "aIi"
    is_named = piece[0].isupper() or any(mark in piece for mark in "_./@:\\")
    return is_named and piece.casefold() not in STOP_WORDS


def _chinese(words: frozenset[str]) -> int:
    return sum(not word.isascii() for word in words)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdecimal() for character in word))
