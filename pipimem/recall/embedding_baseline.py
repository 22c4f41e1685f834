"""Examples of what people say to a bot, as vectors: what nearness to a question is measured by."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pipimem.resources import sections

if TYPE_CHECKING:
    import numpy as np

# What the nearest few are to a question on average is what chance gives.
_NEAREST = 5


def small_talk() -> tuple[str, ...]:
    """What people say to a bot that no memory has an answer to."""
    return sections("recall/small_talk")[""]


def examples() -> tuple[str, ...]:
    """What has to be embedded once: small talk, then questions that only a memory can answer."""
    return (*small_talk(), *sections("recall/memory_questions")[""])


class Chance(NamedTuple):
    """How near a question is to small talk in English and in Chinese.

    `lead` is how much nearer it is to questions for a memory.
    """

    latin: float
    han: float
    lead: float


@dataclass(frozen=True, slots=True)
class Baseline:
    """The examples as vectors of length 1, a row each."""

    latin: np.ndarray[Any, Any]
    han: np.ndarray[Any, Any]
    questions: np.ndarray[Any, Any]

    @classmethod
    def of(cls, vectors: Sequence[Sequence[float]]) -> Baseline:
        """From the vectors of `examples`, in their order."""
        rows = unit(vectors)
        talk = small_talk()
        latin = [place for place, text in enumerate(talk) if text.isascii()]
        han = [place for place, text in enumerate(talk) if not text.isascii()]
        return cls(rows[latin], rows[han], rows[len(talk) :])

    @property
    def numbers(self) -> int:
        """How many numbers a vector has."""
        return int(self.questions.shape[1])

    def chance(self, asked: np.ndarray[Any, Any]) -> Chance:
        """How near a question, given as a vector of length 1, is to the nearest examples.

        An entry in another language than the question is farther from it, whatever both say: so an
        entry is held against the talk of its own language.
        """
        latin, han = cosines(self.latin, asked).tolist(), cosines(self.han, asked).tolist()
        lead = _mean(cosines(self.questions, asked).tolist()) - _mean([*latin, *han])
        return Chance(_mean(latin), _mean(han), lead)


def unit(vectors: Sequence[Sequence[float]]) -> np.ndarray[Any, Any]:
    """Vectors of length 1, so that a product is a cosine; one of length 0 stays."""
    import numpy as np  # 100 ms, and only where there is an embedder

    matrix = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(length > 0, length, 1.0)


def cosines(rows: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The cosine of each row with one vector, all of length 1."""
    import numpy as np

    # Of finite rows, too, numpy now and then warns of an invalid value: the library behind it
    # leaves a flag of the processor set. A host may take warnings for errors.
    with np.errstate(all="ignore"):
        found: np.ndarray[Any, Any] = rows @ asked
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(heapq.nlargest(_NEAREST, values)) / _NEAREST
