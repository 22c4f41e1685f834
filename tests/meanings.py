"""An embedder for tests: texts mean the same where they have words of the same few things in
them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipimem.errors import ModelUnavailable

# Each line is one thing, in words that no thesaurus holds together.
_THINGS = (
    ("kiln", "glowbox"),
    ("skylight", "pane"),
    ("broom", "sweeper"),
    ("haha", "hello", "weather", "thanks"),
)


@dataclass
class Toy:
    """One number a thing, and a little of what all texts share; `seconds` makes it slow,
    `broken` refuse.
    """

    name: str = "toy"
    seconds: float = 0.0
    broken: bool = False
    asked: list[str] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)

    def queries(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of questions."""
        self.asked += texts
        return self._vectors(texts)

    def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of entries."""
        self.embedded += texts
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self.broken:
            raise ModelUnavailable("the toy is broken")
        time.sleep(self.seconds)
        return [
            [1.0, *(2.0 * any(word in text.lower() for word in thing) for thing in _THINGS)]
            for text in texts
        ]
