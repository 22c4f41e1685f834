"""Entries and a question as vectors: which entries mean what is asked, and how surely.

The cosine of two unrelated texts is no 0 (with small e5 models 0.7 to 0.85), and it depends on the
question more than on the entry. So it is never looked at alone: what counts is how much nearer an
entry is to the question than small talk is, and whether the question resembles small talk or what
people ask a memory.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from pipimem.recall.index import Index
from pipimem.resources import sections
from pipimem.text.characters import has_han

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


class Baseline(Struct, frozen=True):
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


def _numpy() -> Any:  # noqa: ANN401 - the module
    import numpy  # 100 ms, and only where there is an embedder

    return numpy


def are_finite_rows(vectors: Sequence[Sequence[float]], count: int) -> bool:
    """Return whether the vectors are `count` rows of as many finite numbers each."""
    numpy = _numpy()
    rows = numpy.asarray(vectors, dtype=numpy.float32)
    has_shape = rows.ndim == 2 and len(rows) == count and rows.shape[1] > 0
    return has_shape and bool(numpy.isfinite(rows).all())


def unit(vectors: Sequence[Sequence[float]]) -> np.ndarray[Any, Any]:
    """Vectors of length 1, so that a product is a cosine; one of length 0 stays."""
    numpy = _numpy()
    matrix = numpy.asarray(vectors, dtype=numpy.float32)
    length = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    rows: np.ndarray[Any, Any] = matrix / numpy.where(length > 0, length, 1.0)
    return rows


def cosines(rows: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The cosine of each row with one vector, all of length 1."""
    numpy = _numpy()
    # Of finite rows, too, numpy now and then warns of an invalid value: the library behind it
    # leaves a flag of the processor set. A host may take warnings for errors.
    with numpy.errstate(all="ignore"):
        found: np.ndarray[Any, Any] = rows @ asked
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(heapq.nlargest(_NEAREST, values)) / _NEAREST


_HASH_BYTES = 16
_HEAD_BYTES = 8
# Chosen on two channels of the unseen questions and the hand-written ones, looked at on the other
# two: with the lead, what people ask anybody (`benchmarks/recall/cases/general.txt`) finds
# something by meaning in 2 to 3 of a hundred. Of more entries the nearest is nearer by chance, so
# the bar rises with the logarithm of their number.
_SURE = 0.0055
_SURE_BY_NUMBER = 0.001
# Between here and there an entry's words count a little more for meaning the same: 0.65 for the
# nearest ever seen.
_FROM = -0.05
_WEIGHT = 18.0


class Nearness(Struct, frozen=True):
    """How near each item is to one question.

    `sure` are the slots that need no word in common, the nearest first. `bar` is what the margin of
    an item must be above to be sure; `lead` is how much nearer the question is to those that are
    asked of a memory than to small talk.
    """

    margins: dict[int, float]
    sure: tuple[int, ...] = ()
    bar: float = 0.0
    lead: float = 0.0
    nearest: tuple[int, ...] = ()

    def surely(self, more: float) -> tuple[int, ...]:
        """Those of the sure whose margin is above the bar by so much."""
        if not more:
            return self.sure
        return tuple(slot for slot in self.nearest if self.margins[slot] > self.bar + more)

    def value(self, slot: int) -> float:
        """What its meaning adds to the evidence of an item; 0 for one that has no vector."""
        margin = self.margins.get(slot)
        return 0.0 if margin is None else _WEIGHT * max(0.0, margin - _FROM)


FAR_FROM_ALL = Nearness({})


class _Placed(Struct, frozen=True):
    """The vectors of the items of one index, by row, with the slot of each item."""

    index: Index
    slots: Sequence[int]
    rows: np.ndarray[Any, Any]
    is_han: np.ndarray[Any, Any]


class Vectors:
    """The vectors of a channel's items by a hash of their text, and their slots in its index."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[bytes, np.ndarray[Any, Any]] = {}
        # What the last placing let go of: half a file may have been read while an editor saved it.
        self._released: dict[bytes, np.ndarray[Any, Any]] = {}
        self._placed: _Placed | None = None
        self.new = 0
        """How many were learnt since they were last written."""

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Takes in the vectors of some texts.

        Raises `ValueError` where they have another dimension than those that are known.
        """
        if not texts:
            return
        fresh = unit(vectors)
        dimension = len(next(iter(self._known.values()), fresh[0]))
        if dimension != fresh.shape[1]:
            raise ValueError(f"vectors of {fresh.shape[1]} numbers among those of {dimension}")
        self._known.update(zip((text_hash(text, self._key) for text in texts), fresh, strict=True))
        self.new += len(texts)

    def rows(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """The vectors of some texts; None unless all are known."""
        found: list[Any] = [self._known.get(text_hash(text, self._key)) for text in texts]
        return None if any(vector is None for vector in found) else found

    def place(self, index: Index, *, forgets: bool = False) -> list[str]:
        """Finds the vector of each item and lets go of those that no item has.

        A text that is gone this time and there the next has its own again, unless this `forgets`.
        Returns the texts that have none yet.
        """
        missing: dict[str, None] = {}
        placed: list[tuple[int, bytes, bool]] = []
        for slot, item in index.slots():
            text = item.searched
            name = text_hash(text, self._key)
            if name in self._known or name in self._released:
                placed.append((slot, name, has_han(text)))
            else:
                missing[text] = None
        self._keep([name for _, name, _ in placed], forgets=forgets)
        # At once: a question may be asked from another thread.
        self._placed = None
        if placed:
            self._placed = self._in_rows(index, placed)
        return list(missing)

    def _keep(self, names: Sequence[bytes], *, forgets: bool) -> None:
        """Keep the vectors of these names; the others are released, or forgotten."""
        known = self._released | self._known
        kept = {name: known[name] for name in names}
        if kept.keys() != self._known.keys():
            self.new += 1  # what was forgotten is to leave the disk, too
        gone = self._known.keys() - kept.keys()
        if gone or forgets:
            self._released = {} if forgets else {name: self._known[name] for name in gone}
        self._known = kept

    def _in_rows(self, index: Index, placed: Sequence[tuple[int, bytes, bool]]) -> _Placed:
        numpy = _numpy()
        rows = numpy.stack([self._known[name] for _, name, _ in placed])
        is_han = numpy.array([han for _, _, han in placed])
        return _Placed(index, [slot for slot, _, _ in placed], rows, is_han)

    def near(
        self, question: Sequence[float], index: Index, baseline: Baseline | None, most: int
    ) -> Nearness:
        """How near every item of the index is to a question, against what chance gives.

        At most so many are sure. Returns `FAR_FROM_ALL` where another index was placed last.
        """
        placed = self._placed
        if placed is None or placed.index is not index or baseline is None:
            return FAR_FROM_ALL
        numpy = _numpy()
        asked = unit([question])[0]
        if not asked.shape[0] == placed.rows.shape[1] == baseline.numbers:
            return FAR_FROM_ALL
        chance = baseline.chance(asked)
        by_chance = numpy.where(
            placed.is_han, numpy.float32(chance.han), numpy.float32(chance.latin)
        )
        nearer = (cosines(placed.rows, asked) - by_chance).tolist()
        margins = dict(zip(placed.slots, nearer, strict=True))
        bar = _SURE + _SURE_BY_NUMBER * math.log(len(margins)) - chance.lead
        nearest = heapq.nlargest(most, margins, key=margins.__getitem__)
        sure = tuple(slot for slot in nearest if margins[slot] > bar)
        return Nearness(margins, sure, bar, chance.lead, tuple(nearest))

    def written(self) -> bytes:
        """All vectors as bytes.

        How many and of which dimension (4 bytes each, little endian), the hashes of their texts,
        then half-precision numbers row by row.
        """
        numpy = _numpy()
        self.new = 0
        if not self._known:
            return b""
        matrix = numpy.stack([*self._known.values()])
        head = numpy.array(matrix.shape, dtype="<u4").tobytes()
        return b"".join((head, *self._known, matrix.astype("<f2").tobytes()))

    def read(self, written: bytes) -> None:
        """Takes in what `written` gave; of bytes that are not whole, nothing."""
        numpy = _numpy()
        if len(written) < _HEAD_BYTES:
            return
        count, dimension = numpy.frombuffer(written, dtype="<u4", count=2).tolist()
        end = _HEAD_BYTES + count * _HASH_BYTES
        if not count or not dimension or len(written) != end + 2 * count * dimension:
            return
        starts = range(_HEAD_BYTES, end, _HASH_BYTES)
        hashes = [written[start : start + _HASH_BYTES] for start in starts]
        numbers = numpy.frombuffer(written, dtype="<f2", offset=end)
        matrix = numbers.reshape(count, dimension).astype(numpy.float32)
        if len(set(hashes)) == count and numpy.isfinite(matrix).all():
            self._known = dict(zip(hashes, matrix, strict=True))


def text_hash(text: str, key: bytes) -> bytes:
    """The hash of a text under a channel's key."""
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=_HASH_BYTES).digest()
