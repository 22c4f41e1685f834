"""Halves of characters in texts that are to be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.characters import storable


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_made_storable(text: str) -> None:
    """Half of a surrogate pair becomes U+FFFD, all else stays."""
    stored = storable(text)
    assert stored.encode().decode() == stored
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert stored == text
