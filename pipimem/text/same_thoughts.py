"""Which of many texts say what another says, without comparing it with each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from pipimem.text.similarity import SAME_THOUGHT, Statement

# Texts with Dice's coefficient t share at least this much of the pairs of either: t / (2 - t).
_SHARED = SAME_THOUGHT / (2 - SAME_THOUGHT)


class SameThoughts:
    """Texts, to be asked as `same_thought` would be of each.

    Two that say one thing agree in numbers and denials, and share one among the rarest pairs of
    letters of either (the prefix filter of set-similarity joins); only those that do are compared.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._statements = [Statement.of(text) for text in texts]
        self._spread = Counter(gram for each in self._statements for gram in each.grams)
        self._holding: dict[tuple[tuple[str, ...], int, str], list[int]] = {}
        for place, each in enumerate(self._statements):
            for gram in self._rarest(each):
                self._holding.setdefault((each.numbers, each.denials, gram), []).append(place)

    def of(self, text: str) -> list[int]:
        """The places of the texts that say what this one says, in order."""
        said = Statement.of(text)
        places: set[int] = set()
        for gram in self._rarest(said):
            places.update(self._holding.get((said.numbers, said.denials, gram), ()))
        return [place for place in sorted(places) if said.says_the_same(self._statements[place])]

    def _rarest(self, statement: Statement) -> Sequence[str]:
        grams = sorted(statement.grams, key=lambda gram: (self._spread[gram], gram)) or [""]
        return grams[: len(grams) - math.ceil(_SHARED * len(grams)) + 1]
