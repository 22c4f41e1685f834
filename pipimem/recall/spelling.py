"""The words of an index that a misspelt word may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

# Shorter words have too many neighbours: "sort", "port" and "post" are three words, not one
# misspelt. One letter for another makes the most of them ("stone", "store"; "story" is "stori" as a
# stem), so there the words are longer.
_SHORTEST = 5
_SHORTEST_EXCHANGED = 7
# An identifier of parts has more letters to go wrong, and more that are right: two of its parts may
# have a slip each, those of so many letters. Digits are never mistaken for others.
_SLIPS = 2
_SHORTEST_PART = 4
_DIVIDERS = re.compile(r"[-_./]")
_DIGITS = re.compile(r"\d+")


class Spelling:
    """Words by first letter and length, for finding those that a misspelt word may mean.

    Hardly anyone misses the first letter, and one slip changes the length by one.
    """

    def __init__(self) -> None:
        self._words: dict[tuple[str, int], set[str]] = {}
        # Identifiers by what they have in common with their misspellings.
        self._identifiers: dict[tuple[str, int, str], set[str]] = {}

    def add(self, word: str) -> None:
        """One more word that may be meant."""
        if _may_be_misspelt(word):
            self._words.setdefault((word[0], len(word)), set()).add(word)
        elif _is_identifier(word):
            self._identifiers.setdefault(_shape(word), set()).add(word)

    def remove(self, word: str) -> None:
        """A word that no item holds any longer."""
        if _may_be_misspelt(word):
            self._words[word[0], len(word)].discard(word)
        elif _is_identifier(word):
            self._identifiers[_shape(word)].discard(word)

    def copy(self) -> Spelling:
        """An equal one that is changed by itself."""
        other = Spelling()
        other._words = {place: words.copy() for place, words in self._words.items()}
        other._identifiers = {place: words.copy() for place, words in self._identifiers.items()}
        return other

    def near_any(self, *words: str) -> tuple[str, ...]:
        """The known words that are one slip away from one of these, each once."""
        found = chain.from_iterable(self.near(word) for word in words if word)
        return tuple(dict.fromkeys(found))

    def near(self, word: str) -> tuple[str, ...]:
        """The known words that are one slip away from this one, in order.

        Of an identifier, those of as many parts of which at most two have a slip.
        """
        if _is_identifier(word):
            parts = _DIVIDERS.split(word)
            known_identifiers = self._identifiers.get(_shape(word), ())
            return tuple(sorted(one for one in known_identifiers if _is_meant(parts, one)))
        lengths = (len(word) - 1, len(word), len(word) + 1)
        if not _may_be_misspelt(word):
            return ()
        known = chain.from_iterable(self._words.get((word[0], length), ()) for length in lengths)
        return tuple(sorted(each for each in known if _one_slip_apart(each, word)))


def _is_identifier(word: str) -> bool:
    return word.isascii() and _DIVIDERS.search(word, 1, len(word) - 1) is not None


def _shape(identifier: str) -> tuple[str, int, str]:
    """What two identifiers have in common of which one is misspelt: digits are no slip."""
    return identifier[0], len(_DIVIDERS.findall(identifier)), "".join(_DIGITS.findall(identifier))


def _is_meant(parts: Sequence[str], identifier: str) -> bool:
    slips = 0
    for part, known in zip(parts, _DIVIDERS.split(identifier), strict=True):
        if part == known:
            continue
        slips += 1
        is_slip = min(len(part), len(known)) >= _SHORTEST_PART and _one_slip_apart(known, part)
        if slips > _SLIPS or not is_slip or any(map(str.isdigit, part + known)):
            return False
    return slips < len(parts)


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


def _one_slip_apart(a: str, b: str) -> bool:
    """Whether a letter is missing, added or wrong, or two stand in each other's place."""
    length = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), length)
    a, b = a[start:], b[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if len(a) == len(b) == 1:
        return length >= _SHORTEST_EXCHANGED
    return len(a) + len(b) == 1 or (len(a) == len(b) == 2 and a == b[::-1])
