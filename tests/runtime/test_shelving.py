"""Indexes within a bound, the last ones asked."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.runtime.shelving import Shelf


@dataclass(slots=True)
class Book:
    """Something of a size that can be put away."""

    entries: int

    def size(self) -> int:
        return self.entries

    def rest(self) -> None:
        self.entries = 0


def test_the_one_not_asked_for_longest_rests() -> None:
    """Asking makes young again."""
    shelf = Shelf(most=10)
    a, b, c = Book(4), Book(4), Book(4)
    shelf.used(a)
    shelf.used(b)
    shelf.used(a)
    shelf.used(c)
    assert [a.entries, b.entries, c.entries] == [4, 0, 4]


def test_one_alone_may_be_larger_than_the_bound() -> None:
    """Whoever is asked stays; all others rest."""
    shelf = Shelf(most=10)
    small, large = Book(3), Book(50)
    shelf.used(small)
    shelf.used(large)
    assert [small.entries, large.entries] == [0, 50]
    again = Book(2)
    shelf.used(again)
    assert [large.entries, again.entries] == [0, 2]


def test_what_grew_counts_as_it_is_now() -> None:
    """A size is that of the last question."""
    shelf = Shelf(most=10)
    growing, other = Book(1), Book(4)
    shelf.used(growing)
    growing.entries = 9
    shelf.used(growing)
    shelf.used(other)
    assert [growing.entries, other.entries] == [0, 4]
