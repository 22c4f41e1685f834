"""Indexes within a bound, the last ones asked."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.runtime.recall_service import IndexLru


@dataclass(slots=True)
class Sized:
    """Something of a size that can be put away."""

    entries: int

    def size(self) -> int:
        return self.entries

    def unload(self) -> None:
        self.entries = 0


def test_the_one_not_asked_for_longest_rests() -> None:
    """Asking makes young again."""
    lru = IndexLru(most=10)
    a, b, c = Sized(4), Sized(4), Sized(4)
    lru.touch(a)
    lru.touch(b)
    lru.touch(a)
    lru.touch(c)
    assert [a.entries, b.entries, c.entries] == [4, 0, 4]


def test_one_alone_may_be_larger_than_the_bound() -> None:
    """Whoever is asked stays; all others rest."""
    lru = IndexLru(most=10)
    small, large = Sized(3), Sized(50)
    lru.touch(small)
    lru.touch(large)
    assert [small.entries, large.entries] == [0, 50]
    again = Sized(2)
    lru.touch(again)
    assert [large.entries, again.entries] == [0, 2]


def test_what_grew_counts_as_it_is_now() -> None:
    """A size is that of the last question."""
    lru = IndexLru(most=10)
    growing, other = Sized(1), Sized(4)
    lru.touch(growing)
    growing.entries = 9
    lru.touch(growing)
    lru.touch(other)
    assert [growing.entries, other.entries] == [0, 4]
