"""A score taken apart: what each word and each circumstance gave to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """One addend of a score; a tuple, for a turn makes a hundred of them and a frozen class costs three times that."""

    name: str
    value: float


def scored(parts: Iterable[Part]) -> float:
    """The score that the parts make: added up from left to right, so anyone gets the very same number."""
    total = 0.0
    for part in parts:
        total += part.value
    return total


def explained(parts: Sequence[Part]) -> str:
    """The parts as one line for eyes: `port 0.412 + nimbus 0.953 + source memory 0.109 = 1.474`."""
    return " + ".join(f"{part.name} {part.value:.3f}" for part in parts) + f" = {scored(parts):.3f}"
