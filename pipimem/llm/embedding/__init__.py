"""The interface of embedders, which turn texts into vectors; two come with pipimem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """Called in worker threads, never on the event loop, also concurrently.

    If it raises a `SidecarError`, recall goes on by words alone.
    """

    @property
    def name(self) -> str:
        """Identifies the vector space: kept vectors of another name are thrown away."""

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question, of any length but 0; all of one dimension."""

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry, comparable with those of questions by its cosine."""
