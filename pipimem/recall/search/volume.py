"""Words and the messages that hold them, as they were written down: looked up where they lie, never changed."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

# Words are written one a line: none has an end of line in it.
_BETWEEN = "\n"
_NOWHERE: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Volume:
    """Words in their order, and for each how far its slots go in one long row of them."""

    words: Sequence[str] = ()
    ends: Sequence[int] = ()
    slots: Sequence[int] = ()
    _numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_numbers", dict(zip(self.words, range(len(self.words)), strict=True))
        )

    def __len__(self) -> int:
        return len(self.words)

    def places(self, word: str) -> Sequence[int]:
        """The slots of a word, in order."""
        number = self._numbers.get(word)
        if number is None:
            return _NOWHERE
        return self.slots[self.ends[number - 1] if number else 0 : self.ends[number]]

    def beginning_with(self, letter: str) -> Iterator[str]:
        """The words that begin with a letter."""
        place = bisect_left(self.words, letter)
        while place < len(self.words) and self.words[place].startswith(letter):
            yield self.words[place]
            place += 1


NO_VOLUME = Volume()


def vocabulary(words: Sequence[str]) -> bytes:
    """The words as bytes."""
    return _BETWEEN.join(words).encode("utf-8", "surrogatepass")


def read(vocabulary: bytes, ends: Sequence[int], slots: Sequence[int]) -> Volume:
    """The volume that was written so. Raises `ValueError` where the parts are not of one."""
    words = vocabulary.decode("utf-8", "surrogatepass").split(_BETWEEN) if ends else []
    if len(words) != len(ends) or (ends[-1] if ends else 0) != len(slots):
        raise ValueError("words and places are not of one volume")
    return Volume(words, ends, slots)


def joined(places: Iterable[Sequence[int]]) -> tuple[array[int], array[int]]:
    """The slots of words one after the other in one row, and where each word's end."""
    ends, row = array("I"), array("I")
    for slots in places:
        row.extend(slots)
        ends.append(len(row))
    return ends, row
