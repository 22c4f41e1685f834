"""How the recall of a channel does: how often the cache answers, and how long a turn waits for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipimem.store.caches.figures import LATEST, Kept


@dataclass(slots=True)
class Figures:
    """What this process counted since it last handed its figures over; times are in milliseconds."""

    turns: int = 0
    looks: int = 0
    hits: int = 0
    waits: deque[float] = field(default_factory=lambda: deque(maxlen=LATEST))

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A turn waits for the memory for as long as this is open."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.turns += 1
            self.waits.append((time.perf_counter() - began) * 1000)

    def looked(self, *, hit: bool) -> None:
        """The cache was asked."""
        self.looks += 1
        self.hits += hit

    def handed_over(self) -> Kept:
        """What was counted, and from here on counting begins anew."""
        kept = Kept(self.turns, self.looks, self.hits, tuple(round(wait, 3) for wait in self.waits))
        self.turns = self.looks = self.hits = 0
        self.waits.clear()
        return kept
