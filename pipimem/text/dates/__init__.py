"""Dates in what people say: made absolute, listed, taken out, and the last day a text holds.

Written by rule, without a library: those for free-form dates are tens of megabytes, take
milliseconds a text and read too much ("may", "sun", bare numbers) as dates.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from itertools import chain
from operator import attrgetter

from pipimem.text.dates import chinese, english
from pipimem.text.dates.bounds import Span
from pipimem.text.dates.rules import FoundDate
from pipimem.text.patterns import Pattern, replaced

__all__ = ["Span", "dated", "lasts_until", "mentioned", "without_days"]

# Code, addresses and paths are quoted as they are.
_CODE = Pattern(
    r"```.*?(?:```|\Z)|`[^`\n]+`|https?://[^\s<>，。；、）]+"
    r"|(?<![\w/.-])(?=[\d./-]*[A-Za-z_])[\w.-]*/[\w./-]{2,}",
    re.DOTALL | re.ASCII,
)
# "tomorrow (2026-03-05)", "2026-03-05（明天）", "10月13日周二": somebody has said it already.
_DATED_AFTER = Pattern(r"\s?[(（\[,，]?\s?(?:\d{4}-\d\d|\d{1,2}[月/]\d)")
_DATED_BEFORE = Pattern(
    r"\d{4}-\d\d-\d\d\s?[(（\[,，]\s?\Z|(?:\d[日号]|月\d{1,2})\s?[(（,，]?\s?\Z"
)

# Dates that touch become clear one after the other; four are enough for what people write.
_READINGS = 4
# Only what is said of the statement itself: "the domain expires on …" is as true on the day after.
_LAST_DAY = r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)(?!\d)"
_LASTING = (
    Pattern(
        rf"\b(?:until|till|through)\s+(?:the\s+end\s+of\s+)?(?:\w+,?\s+)?\(?{_LAST_DAY}",
        re.IGNORECASE,
    ),
    Pattern(rf"(?:有效期?至|截止到|截止至|截至|直到)\s*{_LAST_DAY}"),
    Pattern(rf"(?:到|至)\s*{_LAST_DAY}\s*(?:为止|止|之?前有效|前都?有效)"),
)


def dated(text: str, when: datetime) -> str:
    """The text with its relative dates made absolute as of `when`.

    What is unclear stays as it was said. Words beside a date can become clear once it is written
    out (下下周一下个月5号), so the text is read until nothing changes.
    """
    for _ in range(_READINGS):
        once_more = _read_once(text, when)
        if once_more == text:
            break
        text = once_more
    return text


def _read_once(text: str, when: datetime) -> str:
    written: list[tuple[int, int, str]] = []
    for found in _found(text, when):
        if found.said is None or _is_dated(text, found):
            continue
        touches = bool(written) and written[-1][1] == found.start
        written.append((found.start, found.end, f" {found.said}" if touches else found.said))
    return replaced(text, written)


def mentioned(text: str, when: datetime) -> tuple[Span, ...]:
    """The stretches of days that a text names, absolute or relative to `when`.

    They stand in its order, each once. Where the year is missing it is the one that brings the date
    nearest to `when`.
    """
    return tuple(dict.fromkeys(found.span for found in _found(text, when) if found.span))


def without_days(text: str, when: datetime) -> str:
    """The text with the days that it names taken out."""
    return replaced(text, [(found.start, found.end, " ") for found in _found(text, when)])


def lasts_until(text: str) -> date | None:
    """The latest of the days a text names as its own end, `None` where it names none."""
    matches = chain.from_iterable(form().finditer(text) for form in _LASTING)
    days = (_read(match["day"]) for match in matches)
    return max(filter(None, days), default=None)


def _found(text: str, when: datetime) -> list[FoundDate]:
    """The dates in their order; of those that overlap the first by rule, none in code."""
    today = when.date()
    covered = _code_places(text) if "`" in text or "/" in text else set()
    kept: list[FoundDate] = []
    for found in chain(english.found(text, text.lower(), today), chinese.found(text, today)):
        places = range(found.start, found.end)
        if covered.isdisjoint(places):
            covered.update(places)
            kept.append(found)
    return sorted(filter(attrgetter("span"), kept), key=attrgetter("start"))


def _code_places(text: str) -> set[int]:
    places: set[int] = set()
    for code in _CODE().finditer(text):
        places.update(range(*code.span()))
    return places


def _is_dated(text: str, found: FoundDate) -> bool:
    return bool(
        _DATED_AFTER().match(text, found.end)
        or _DATED_BEFORE().search(text[max(0, found.start - 16) : found.start])
    )


def _read(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:  # 2026-02-30 is no day
        return None
