"""How much is measured: everything, or a sample that ends within a minute."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes and counts of a run; `None` means all."""

    rounds: int = 3
    samples: int = 150
    starts: int = 9
    sizes: tuple[int, ...] = (50, 500, 5_000, 50_000)
    messages: int = 100_000
    channels: int = 1_000
    some: int | None = None
    secrets: int = 20


QUICK = Effort(1, 8, 1, (50, 500), 500, 10, some=3, secrets=1)
