"""How alike two texts are by their pairs of letters: cheap, and the same for Chinese and English."""

from __future__ import annotations


def bigrams(text: str) -> frozenset[str]:
    """Every two neighbouring characters, white space and case aside; a text of one character is its own pair."""
    plain = "".join(text.split()).casefold()
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1)) or frozenset({plain} - {""})


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of pairs, 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def share_in(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of the pairs of `part` stands in `whole` too, 0 to 1; nothing stands anywhere."""
    return len(part & whole) / len(part) if part else 1.0
