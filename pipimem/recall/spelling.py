"""The words of an index that a misspelt word may mean."""

from __future__ import annotations

# Shorter words have too many neighbours: "sort", "port" and "post" are three words, not one misspelt. One
# letter for another makes the most of them ("stone", "store"; "story" is "stori" as a stem), so there the
# words are longer.
_SHORTEST = 5
_SHORTEST_EXCHANGED = 7


class Spelling:
    """Words by first letter and length: hardly anyone misses the first letter, and one slip changes the length by one."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, int], set[str]] = {}

    def add(self, word: str) -> None:
        """One more word that may be meant."""
        if _may_be_misspelt(word):
            self._words.setdefault((word[0], len(word)), set()).add(word)

    def remove(self, word: str) -> None:
        """A word that no item holds any longer."""
        if _may_be_misspelt(word):
            self._words[word[0], len(word)].discard(word)

    def copy(self) -> Spelling:
        """The same, to be changed by itself."""
        other = Spelling()
        other._words = {place: words.copy() for place, words in self._words.items()}
        return other

    def near(self, word: str) -> tuple[str, ...]:
        """The known words one slip away: a letter missing, added or wrong, or two in each other's place."""
        if not _may_be_misspelt(word):
            return ()
        lengths = (len(word) - 1, len(word), len(word) + 1)
        known = (known for length in lengths for known in self._words.get((word[0], length), ()))
        return tuple(sorted(one for one in known if _one_slip_apart(one, word)))


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


def _one_slip_apart(a: str, b: str) -> bool:
    """Whether two words are one slip apart: a letter missing, added or wrong, or two in each other's place."""
    length = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), length)
    a, b = a[start:], b[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if len(a) == len(b) == 1:
        return length >= _SHORTEST_EXCHANGED
    return len(a) + len(b) == 1 or (len(a) == len(b) == 2 and a == b[::-1])
