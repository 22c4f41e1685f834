"""Entries and a question as vectors: which entries mean what is asked, and how surely.

The cosine of two unrelated texts is no 0 (with small e5 models 0.7 to 0.85), and it depends on the question more than on
the entry. So it is never looked at alone: what counts is how much nearer an entry is to the question than small talk is, and
whether the question resembles small talk or what people ask a memory.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pipimem.recall.index import Index
from pipimem.recall.yardstick import Yardstick, unit
from pipimem.text.han import has_han

if TYPE_CHECKING:
    import numpy as np

MARK_BYTES = 16
# Chosen on two channels of the unseen questions and the hand-written ones, looked at on the other two: with the lead, what
# people ask anybody (`benchmarks/recall/cases/general.txt`) finds something by meaning in 2 to 3 of a hundred. Of more
# entries the nearest is nearer by chance, so the bar rises with the logarithm of their number.
_SURE = 0.0055
_SURE_BY_NUMBER = 0.001
# Between here and there an entry's words count a little more for meaning the same: 0.65 for the nearest ever seen.
_FROM = -0.05
_WEIGHT = 5.0


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near each item is to one question; `sure` are the slots that need no word in common, the nearest first.

    `bar` is what the margin of an item must be above to be sure; `lead` is how much nearer the question is to those that
    are asked of a memory than to small talk.
    """

    margins: dict[int, float]
    sure: tuple[int, ...] = ()
    bar: float = 0.0
    lead: float = 0.0

    def surely(self, more: float) -> tuple[int, ...]:
        """Those of the sure whose margin is above the bar by so much."""
        return (
            tuple(slot for slot in self.sure if self.margins[slot] > self.bar + more)
            if more
            else self.sure
        )

    def value(self, slot: int) -> float:
        """What its meaning adds to the evidence of an item; 0 for one that has no vector."""
        margin = self.margins.get(slot)
        return 0.0 if margin is None else _WEIGHT * max(0.0, margin - _FROM)


FAR_FROM_ALL = Nearness({})


@dataclass(frozen=True, slots=True)
class _Placed:
    """The vectors of the items of one index, by row, with the slot of each item."""

    index: Index
    slots: Sequence[int]
    rows: np.ndarray[Any, Any]
    is_han: np.ndarray[Any, Any]


class Vectors:
    """The vectors of a channel's items by a mark of their text, and where they stand in its index."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[bytes, np.ndarray[Any, Any]] = {}
        self._placed: _Placed | None = None
        self.new = 0
        """How many were learnt since they were last written."""

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Take in the vectors of some texts; all of one dimension. Raises `ValueError` where they are not."""
        if not texts:
            return
        fresh = unit(vectors)
        dimension = len(next(iter(self._known.values()), fresh[0]))
        if dimension != fresh.shape[1]:
            raise ValueError(f"vectors of {fresh.shape[1]} numbers among those of {dimension}")
        self._known.update(zip((mark(text, self._key) for text in texts), fresh, strict=True))
        self.new += len(texts)

    def rows(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """The vectors of some texts; None unless all are known."""
        found: list[Any] = [self._known.get(mark(text, self._key)) for text in texts]
        return None if any(vector is None for vector in found) else found

    def place(self, index: Index) -> list[str]:
        """Find out which item has which vector, let go of those that no item has; the texts that have none yet."""
        import numpy as np

        missing: dict[str, None] = {}
        kept: dict[bytes, np.ndarray[Any, Any]] = {}
        placed: list[np.ndarray[Any, Any]] = []
        is_han: list[bool] = []
        slots: list[int] = []
        for slot, item in index.slots():
            text = item.searched
            name = mark(text, self._key)
            vector = self._known.get(name)
            if vector is None:
                missing[text] = None
                continue
            kept[name] = vector
            placed.append(vector)
            is_han.append(has_han(text))
            slots.append(slot)
        if len(kept) < len(self._known):
            self.new += 1  # what was forgotten is to leave the disk, too
        self._known = kept
        # At once: a question may be asked from another thread.
        rows = np.stack(placed) if placed else None
        self._placed = (
            None if rows is None else _Placed(index, slots, rows, np.array(is_han, dtype=np.bool_))
        )
        return list(missing)

    def near(
        self, question: Sequence[float], index: Index, yardstick: Yardstick | None, most: int
    ) -> Nearness:
        """How near every item of the index is to a question, against what chance gives; at most so many are sure.

        None is near where another index was placed last.
        """
        placed = self._placed
        if placed is None or placed.index is not index or yardstick is None:
            return FAR_FROM_ALL
        import numpy as np

        asked = unit([question])[0]
        if not asked.shape[0] == placed.rows.shape[1] == yardstick.numbers:
            return FAR_FROM_ALL
        chance = yardstick.chance(asked)
        nearer = placed.rows @ asked - np.where(
            placed.is_han, np.float32(chance.han), np.float32(chance.latin)
        )
        margins = dict(zip(placed.slots, nearer.tolist(), strict=True))
        bar = _SURE + _SURE_BY_NUMBER * math.log(len(margins)) - chance.lead
        nearest = heapq.nlargest(most, margins, key=margins.__getitem__)
        return Nearness(
            margins, tuple(slot for slot in nearest if margins[slot] > bar), bar, chance.lead
        )

    def written(self) -> bytes:
        """All vectors as bytes: how many, of which dimension, the marks, then half-precision numbers row by row."""
        import numpy as np

        self.new = 0
        if not self._known:
            return b""
        matrix = np.stack([*self._known.values()])
        head = len(matrix).to_bytes(4, "little") + matrix.shape[1].to_bytes(4, "little")
        return b"".join((head, *self._known, matrix.astype("<f2").tobytes()))

    def read(self, written: bytes) -> None:
        """Take in what `written` gave; what is not whole is left."""
        import numpy as np

        count, dimension = (
            int.from_bytes(written[:4], "little"),
            int.from_bytes(written[4:8], "little"),
        )
        start = 8 + count * MARK_BYTES
        if not count or not dimension or len(written) != start + 2 * count * dimension:
            return
        marks = [written[8 + row * MARK_BYTES : 8 + (row + 1) * MARK_BYTES] for row in range(count)]
        matrix = (
            np.frombuffer(written, dtype="<f2", offset=start)
            .reshape(count, dimension)
            .astype(np.float32)
        )
        if len(set(marks)) == count and np.isfinite(matrix).all():
            self._known = dict(zip(marks, matrix, strict=True))


def mark(text: str, key: bytes) -> bytes:
    """The mark of a text under a channel's key."""
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=MARK_BYTES).digest()
