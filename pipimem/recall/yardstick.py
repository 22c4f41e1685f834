"""What a question is held against before its nearness to an entry means anything: examples of what people say to a bot."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pipimem.recall.memory_questions import MEMORY_QUESTIONS
from pipimem.recall.small_talk import SMALL_TALK

if TYPE_CHECKING:
    import numpy as np

# What has to be embedded once for a yardstick.
EXAMPLES: tuple[str, ...] = (*SMALL_TALK, *MEMORY_QUESTIONS)
# What the nearest few are to a question on average is what chance gives.
_NEAREST = 5


class Chance(NamedTuple):
    """How near a question is to small talk in English and in Chinese, and how much nearer to questions for a memory."""

    latin: float
    han: float
    lead: float


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The examples as vectors of length 1, a row each."""

    latin: np.ndarray[Any, Any]
    han: np.ndarray[Any, Any]
    questions: np.ndarray[Any, Any]

    @classmethod
    def of(cls, vectors: Sequence[Sequence[float]]) -> Yardstick:
        """From the vectors of `EXAMPLES`, in their order."""
        rows = unit(vectors)
        talk = [(place, text.isascii()) for place, text in enumerate(SMALL_TALK)]
        return cls(
            rows[[place for place, is_latin in talk if is_latin]],
            rows[[place for place, is_latin in talk if not is_latin]],
            rows[len(SMALL_TALK) :],
        )

    @property
    def numbers(self) -> int:
        """How many numbers a vector has."""
        return int(self.questions.shape[1])

    def chance(self, asked: np.ndarray[Any, Any]) -> Chance:
        """What chance gives a question; `asked` is its vector, of length 1.

        An entry in another language than the question is farther from it, whatever both say: so an entry is held against the
        talk of its own language.
        """
        latin, han = (self.latin @ asked).tolist(), (self.han @ asked).tolist()
        lead = _mean((self.questions @ asked).tolist()) - _mean([*latin, *han])
        return Chance(_mean(latin), _mean(han), lead)


def unit(vectors: Sequence[Sequence[float]]) -> np.ndarray[Any, Any]:
    """Vectors of length 1, so that a product is a cosine; one of length 0 stays."""
    import numpy as np  # 100 ms, and only where there is an embedder

    matrix = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(length > 0, length, 1.0)


def _mean(cosines: Sequence[float]) -> float:
    return sum(heapq.nlargest(_NEAREST, cosines)) / _NEAREST
