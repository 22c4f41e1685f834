"""Two texts that grew out of one: nobody's words get lost, none stand twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.commits.merging import merged

LINES = st.lists(st.sampled_from([f"- {letter}\n" for letter in "abcdefgh"]), unique=True, max_size=8)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "both"),
    [
        ("a\n", "a\nours\n", "a\n", "a\nours\n"),
        ("a\n", "a\n", "a\ntheirs\n", "a\ntheirs\n"),
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\n", "a\nours\n", "a\ntheirs\n", "a\ntheirs\nours\n"),
        ("a\nb\n", "a\nB ours\n", "a\nB theirs\n", "a\nB theirs\nB ours\n"),
        ("a\nb\n", "a\n", "a\nb\nc\n", "a\nc\n"),
        ("a\nb\n", "b\n", "a\n", ""),
        ("a\nb\n", "a\nb\nsame\n", "a\nb\nsame\n", "a\nb\nsame\n"),
        ("a", "a\nours\n", "a", "a\nours\n"),
        ("", "ours\n", "theirs", "theirs\nours\n"),
    ],
)
def test_both_sides_stay(base: str, ours: str, theirs: str, both: str) -> None:
    """Theirs where they stand, ours behind where the two clash."""
    assert merged(base, ours, theirs) == both


@given(LINES, LINES, LINES)
def test_no_added_line_is_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """Whatever either side added is in the merge."""
    found = merged("".join(base), "".join(ours), "".join(theirs)).splitlines(keepends=True)
    assert not (set(ours) | set(theirs)) - set(base) - set(found)


@given(LINES, LINES)
def test_one_side_alone_is_that_side(base: list[str], other: list[str]) -> None:
    """Without a second change nothing is to be merged."""
    one, text = "".join(base), "".join(other)
    assert merged(one, text, one) == text
    assert merged(one, one, text) == text
    assert merged(one, text, text) == text
