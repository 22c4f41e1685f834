"""The last day a text says it holds: "until 2026-03-05", 有效期至2026-03-05."""

from __future__ import annotations

import re
from datetime import date

# Only what is said of the statement itself: "the domain expires on …" is as true on the day after.
_DAY = r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)(?!\d)"
_FORMS = (
    re.compile(
        rf"\b(?:until|till|through)\s+(?:the\s+end\s+of\s+)?(?:\w+,?\s+)?\(?{_DAY}", re.IGNORECASE
    ),
    re.compile(rf"(?:有效期?至|截止到|截止至|截至|直到)\s*{_DAY}"),
    re.compile(rf"(?:到|至)\s*{_DAY}\s*(?:为止|止|之?前有效|前都?有效)"),
)


def lasts_until(text: str) -> date | None:
    """The latest of the days a text names as its own end, `None` where it names none."""
    days = [day for form in _FORMS for found in form.finditer(text) if (day := _read(found["day"]))]
    return max(days, default=None)


def _read(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:  # 2026-02-30 is no day
        return None
