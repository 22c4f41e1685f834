"""How long the day of a plan is past."""

from __future__ import annotations

from datetime import date, datetime

from pipimem.memory.prompt_memory import days_past
from pipimem.notes.kinds import Kind

from tests.cases import each

SAID = datetime.fromisoformat("2026-03-01T09:00:00+08:00")


@each(
    ("kind", "text", "days"),
    [
        (Kind.OPEN_LOOP, "Dana calls the bank on 2026-03-05", 26),
        (Kind.ONGOING, "林晓 2026 年 3 月底前写完论文", 0),
        (Kind.ONGOING, "Dana rehearses in March 2026", 0),
        (Kind.OPEN_LOOP, "Tom (2026-03-01): I call the bank tomorrow", 29),
        (Kind.OPEN_LOOP, "Dana calls the bank on 2026-03-05, Tom on 2026-03-30", 1),
        (Kind.ONGOING, "Dana works at the bank since 2025-03-05", 0),
        (Kind.ONGOING, "Dana learns the piano", 0),
        (Kind.OPEN_LOOP, "Dana calls the bank on 2026-04-05", 0),
        (Kind.FACT, "Dana called the bank on 2026-03-05", 0),
        (None, "Dana calls the bank on 2026-03-05", 0),
    ],
)
def test_a_plan_counts_from_its_last_day(kind: Kind | None, text: str, days: int) -> None:
    """Days that were past when it was said are not when it is to happen."""
    assert days_past(kind, text, SAID, date(2026, 3, 31)) == days
