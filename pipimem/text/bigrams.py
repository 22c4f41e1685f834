"""How alike two texts are by their pairs of letters: cheap, and the same for Chinese and English."""

from __future__ import annotations


def bigrams(text: str) -> frozenset[str]:
    """Every two neighbouring characters, white space and case aside; a text of one character is its own pair."""
    plain = "".join(text.split()).casefold()
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1)) or frozenset({plain} - {""})


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of pairs, 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def share_kept(old: str, new: str) -> float:
    """How much of the old text's pairs the new text still has, 0 to 1."""
    before = bigrams(old)
    return len(before & bigrams(new)) / len(before) if before else 1.0
