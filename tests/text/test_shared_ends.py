"""How far two texts are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.shared_ends import shared_ends

TEXTS = st.text(alphabet="ab\n\r", max_size=30)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_the_ends_are_as_long_as_they_can_be(head: str, old: str, new: str, tail: str) -> None:
    """No more could be taken on either side, and the two never overlap."""
    a, b = head + old + tail, head + new + tail
    first, last = shared_ends(a, b)
    assert a[:first] == b[:first]
    assert a[len(a) - last :] == b[len(b) - last :]
    assert first + last <= min(len(a), len(b))
    assert first == min(len(a), len(b)) or a[first] != b[first]


def test_a_change_far_inside_is_found() -> None:
    """Also where the texts are longer than any piece that is compared at once."""
    a, b = "x" * 20_000 + "old" + "y" * 9_000, "x" * 20_000 + "newer" + "y" * 9_000
    assert shared_ends(a, b) == (20_000, 9_000)
    assert shared_ends((1, 2, 3), (1, 4, 3)) == (1, 1)
