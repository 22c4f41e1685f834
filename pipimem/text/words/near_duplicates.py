"""Which of many texts say what another says, without comparing it with each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from pipimem.text.words.similarity import SAME_THOUGHT, Statement


class SimilarTexts:
    """Texts, to be asked as `says_the_same` would be of each.

    Two that say one thing agree in numbers and denials, and share one of the rarest pairs of
    letters; only those that do are compared.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._statements = [Statement.of(text) for text in texts]
        self._spread = Counter(chain.from_iterable(each.grams for each in self._statements))
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
        return rarest(statement.grams or {""}, self._spread, SAME_THOUGHT)


def rarest(grams: Iterable[str], spread: Mapping[str, int], least: float) -> list[str]:
    """The rarest pairs of a text; `spread` says in how many texts each stands.

    Two texts with Dice's coefficient `least` share `least / (2 - least)` of the pairs of either, so
    one among the rarest of each: only texts that do need to be compared.
    """
    by_rarity = sorted(grams, key=lambda gram: (spread[gram], gram))
    shared = math.ceil(least / (2 - least) * len(by_rarity))
    return by_rarity[: len(by_rarity) - shared + 1]
