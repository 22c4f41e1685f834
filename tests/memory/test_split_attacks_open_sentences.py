"""Whether a message goes on with the sentence of the one before it."""

from __future__ import annotations

from pipimem.memory.split_attacks import goes_on

from tests.cases import each, table


@each(
    ("before", "after", "does"),
    table(__file__, "goes_on"),
)
def test_goes_on(before: str, after: str, does: bool) -> None:
    """By its signs, by case, by words at the edges, by a word that stands across both."""
    assert goes_on(before, after) is does
