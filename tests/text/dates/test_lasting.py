"""The last day a text says it holds."""

from __future__ import annotations

from datetime import date

import pytest
from pipimem.text.dates.lasting import lasts_until


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("the code freeze lasts until 2026-03-05", date(2026, 3, 5)),
        ("Dana is away till Friday 2026-03-06, then back", date(2026, 3, 6)),
        ("valid through (2026-03-05)", date(2026, 3, 5)),
        ("优惠码有效期至2026-03-05", date(2026, 3, 5)),
        ("代码冻结到 2026-03-05 为止", date(2026, 3, 5)),
        ("until 2026-03-05, extended until 2026-04-01", date(2026, 4, 1)),
        ("the domain expires on 2026-03-05", None),
        ("the release is on 2026-03-05", None),
        ("会议改到 2026-03-05", None),
        ("until 2026-02-30", None),
        ("until Friday", None),
    ],
)
def test_only_what_is_said_of_the_statement_itself_ends_it(text: str, last: date | None) -> None:
    """A date of which something is told is no end of the telling."""
    assert lasts_until(text) == last
