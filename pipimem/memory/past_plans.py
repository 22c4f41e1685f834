"""How long the day of a plan has been past, by the plan's own words."""

from __future__ import annotations

from datetime import date, datetime

from pipimem.notes.kinds import Kind
from pipimem.text.dates import mentioned
from pipimem.text.quotes import words_said

PLANS = (Kind.OPEN_LOOP, Kind.ONGOING)
# People tell what came of a plan within days, or not at all.
NO_NEWS_DAYS = 14
# After so long nobody asks for it: it is recalled where a question is about it, and shown nowhere.
STALE_DAYS = 60


def days_past(kind: str | None, text: str, said: datetime, today: date) -> int:
    """The days since the last day that a plan names; 0 for what is no plan, or names none.

    A day that was past when the plan was `said` is none of the plan's: "works there since May".
    """
    if kind not in PLANS:
        return 0
    last = max((span.end for span in mentioned(words_said(text), said)), default=None)
    if last is None or last < said.date():
        return 0
    return max(0, (today - last).days)
