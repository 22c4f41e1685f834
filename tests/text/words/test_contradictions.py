"""Two texts of which one allows what the other forbids."""

from __future__ import annotations

import pytest
from pipimem.text.words.contradictions import contradictions


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("周五不许发布", "周五可以发布"),
        ("老周（2026-03-02）：生产库不能直接改", "Dana（2026-03-09）：生产库可以直接改"),
        ("we never deploy on Fridays", "we deploy on Fridays"),
        ("guests may not park in the yard", "guests may park in the yard"),
        ("dogs are not allowed to enter", "dogs are allowed to enter"),
    ],
)
def test_one_forbids_what_the_other_allows(one: str, other: str) -> None:
    """In either order."""
    assert list(contradictions([one, "something else entirely", other])) == [(0, 2)]
    assert list(contradictions([other, one])) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("周五不许发布", "周二可以开会"),
        ("the limit is 20", "the limit is 30"),
        ("room 3 has no projector", "room 5 has a projector"),
        ("we never deploy on Fridays", "we never deploy on Fridays, ever"),
        ("不要", "可以"),
    ],
)
def test_what_is_no_contradiction(one: str, other: str) -> None:
    """Other subjects, other numbers, the same said twice, and nothing but the words themselves."""
    assert list(contradictions([one, other])) == []
