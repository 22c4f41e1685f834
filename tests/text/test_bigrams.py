"""Texts are alike when they share their pairs of letters, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.similarity import alike, bigrams, share_in


def test_pairs_pass_over_white_space_and_case():
    """What an editor reflows or capitalises stays the same; one character is its own pair."""
    assert bigrams("Tea  or\ncoffee") == bigrams("tea OR coffee")
    assert bigrams("不吃葱") == {"不吃", "吃葱"}
    assert (bigrams("茶"), bigrams(" ")) == ({"茶"}, frozenset())


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [
        ("tea", "green tea", 1.0),
        ("green tea", "tea", 2 / 7),
        ("tea", "码头", 0.0),
        ("", "tea", 1.0),
    ],
)
def test_a_share_looks_at_one_side(part, whole, share):
    """What the other text has beside it does not matter."""
    assert share_in(bigrams(part), bigrams(whole)) == share


@given(st.text(max_size=20), st.text(max_size=20))
def test_likeness_is_symmetric_and_bounded(a, b):
    """From 0 to 1 whichever comes first, and 1 for a text and itself."""
    one, other = bigrams(a), bigrams(b)
    assert 0 <= alike(one, other) == alike(other, one) <= 1
    assert alike(one, one) == 1
