"""The words of an index that a misspelt word may mean."""

from __future__ import annotations

from collections.abc import Iterator

# Shorter words have too many neighbours: "sort", "port" and "post" are three words, not one misspelt. One
# letter for another makes the most of them ("stone", "store"; "story" is "stori" as a stem), so there the
# words are longer.
_SHORTEST = 5
_SHORTEST_EXCHANGED = 7


class Spelling:
    """Words by what is left when one letter is taken out: two words one slip apart meet there."""

    def __init__(self) -> None:
        self._by_rest: dict[str, set[str]] = {}
        # Words not taken apart yet: a start takes in thousands, and many a question has no slip in it.
        self._waiting: set[str] = set()

    def add(self, word: str) -> None:
        """One more word that may be meant."""
        if _may_be_misspelt(word):
            self._waiting.add(word)

    def remove(self, word: str) -> None:
        """A word that no item holds any longer."""
        if word in self._waiting:
            self._waiting.discard(word)
        elif _may_be_misspelt(word):
            for rest in _rests(word):
                if words := self._by_rest.get(rest):
                    words.discard(word)
                    if not words:
                        del self._by_rest[rest]

    def near(self, word: str) -> tuple[str, ...]:
        """The known words one slip away: a letter missing, added or wrong, or two in each other's place.

        Hardly anyone misses the first letter, so it must be the same.
        """
        if not _may_be_misspelt(word):
            return ()
        for known in self._waiting:
            for rest in _rests(known):
                self._by_rest.setdefault(rest, set()).add(known)
        self._waiting.clear()
        found = {known for rest in _rests(word) for known in self._by_rest.get(rest, ())}
        return tuple(sorted(known for known in found if known[0] == word[0] and _one_slip_apart(known, word)))


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


def _rests(word: str) -> Iterator[str]:
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _one_slip_apart(a: str, b: str) -> bool:
    """Whether the words differ by one slip; meeting at a rest alone also lets two slips far apart through."""
    length = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), length)
    a, b = a[start:], b[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if len(a) == len(b) == 1:
        return length >= _SHORTEST_EXCHANGED
    return len(a) + len(b) == 1 or (len(a) == len(b) == 2 and a == b[::-1])
