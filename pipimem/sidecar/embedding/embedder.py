"""What an embedder is: something that turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """Called in worker threads, never on the event loop, sometimes for a question while it embeds entries.

    Any error it raises as a `SidecarError` is taken as "not now": recall goes on by words.
    """

    @property
    def name(self) -> str:
        """Says which vectors go together: those of another name are thrown away."""

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question, of any length but 0; all of one dimension."""

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry, comparable with those of questions by its cosine."""
