"""The prefix filter of set-similarity joins: which pairs of letters two texts must share to be alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def rarest(grams: Iterable[str], spread: Mapping[str, int], least: float) -> list[str]:
    """The rarest pairs of a text; `spread` says in how many texts each stands.

    Two texts with Dice's coefficient `least` share `least / (2 - least)` of the pairs of either, so
    one among the rarest of each: only texts that do need to be compared.
    """
    by_rarity = sorted(grams, key=lambda gram: (spread[gram], gram))
    shared = math.ceil(least / (2 - least) * len(by_rarity))
    return by_rarity[: len(by_rarity) - shared + 1]
