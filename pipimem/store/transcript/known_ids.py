"""Which ids of messages are known, without keeping the ids themselves."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

# Each table grows alone, so that growing never takes twice the memory of all.
_TABLES = 64
_FIRST_SIZE = 8
_BITS = (1 << 64) - 1


class KnownIds:
    """A set of ids in 12 to 18 bytes each; as strings in a set they take 130 and more.

    Of each id its hash is kept, 64 bits under a key that each process draws anew. Among five
    million ids two have the same hash once in a million such sets.
    """

    __slots__ = ("_counts", "_tables")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._tables = [array("Q")] * _TABLES
        self._counts = array("Q", bytes(8 * _TABLES))
        for name in names:
            self.add(name)

    def __contains__(self, name: object) -> bool:
        value = _hashed(name)
        table = self._tables[value % _TABLES]
        return bool(table) and table[_slot(table, value)] == value

    def __len__(self) -> int:
        return sum(self._counts)

    def add(self, name: str) -> bool:
        """Adds an id; whether it was not known."""
        value = _hashed(name)
        number = value % _TABLES
        table = self._tables[number]
        # Where a third is free, a place is found in two or three steps.
        if 3 * self._counts[number] >= 2 * len(table):
            table = self._tables[number] = _grown(table)
        place = _slot(table, value)
        if table[place]:
            return False
        table[place] = value
        self._counts[number] += 1
        return True


def _hashed(name: object) -> int:
    """The hash of an id; never 0, which says that a slot is free."""
    return hash(name) & _BITS or 1


def _slot(table: array[int], value: int) -> int:
    """Where a hash stands in a table, or belongs."""
    size = len(table)
    place = value // _TABLES % size
    while table[place] not in (0, value):
        place = (place + 1) % size
    return place


def _grown(table: array[int]) -> array[int]:
    size = max(_FIRST_SIZE, len(table) * 3 // 2)
    larger = array("Q", bytes(8 * size))
    for value in filter(None, table):
        larger[_slot(larger, value)] = value
    return larger
