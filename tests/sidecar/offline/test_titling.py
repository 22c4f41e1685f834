"""Titles that say what happened."""

from __future__ import annotations

import pytest
from pipimem.sidecar.offline.titling import titled


@pytest.mark.parametrize(
    ("told", "title"),
    [
        ([("Mel went to the boat fair on 2023-05-07 - it was grand", "Mel")], "Mel went to the boat fair"),
        ([("老周：我们决定灯塔继续用旧灯，这次不换", "老周")], "灯塔继续用旧灯"),
        ([("Dana: We had fun", "Dana"), ("Mel sold the old boat", "Mel")], "Mel sold the old boat"),
        ([("Mel sold the boat", "Mel"), ("Dana fixed the pier", "Dana")], "Mel sold the boat; Dana fixed the pier"),
        ([("docs/a/b.md 和 c.md", "Mel")], ""),
    ],
)
def test_a_title_is_what_the_weightiest_bullets_say(told: list[tuple[str, str]], title: str) -> None:
    """Without who led it in, the date, or what only "we" and a path would say; two where there is room."""
    assert titled(told) == title
