"""How alike two texts are by their pairs of letters: cheap, and the same for Chinese and English."""

from __future__ import annotations

import re

# Above this two bullets say the same in other words, if they also agree in every number and denial.
_SAME = 0.82
_NUMBERS = re.compile(r"\d+")
_DENIAL = re.compile(
    r"\b(?:no|not|never|don't|doesn't|isn't|won't|can't|without|stop)\b|[不没别勿无非禁]", re.IGNORECASE
)


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


def same_thought(a: str, b: str) -> bool:
    """Whether two bullets say one thing: nearly the same letters, the very same numbers and denials."""
    return (
        sorted(_NUMBERS.findall(a)) == sorted(_NUMBERS.findall(b))
        and len(_DENIAL.findall(a)) == len(_DENIAL.findall(b))
        and alike(bigrams(a), bigrams(b)) >= _SAME
    )
