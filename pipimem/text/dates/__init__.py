"""Dates in what people say: relative ones made absolute, and the days a text names.

Written by rule, without a library: those for free-form dates are tens of megabytes, take milliseconds a text
and read too much ("may", "sun", bare numbers) as dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from pipimem.text.dates import chinese, english
from pipimem.text.dates.spans import Found, Span
from pipimem.text.patterns import Pattern

__all__ = ["Span", "dated", "mentioned", "without_days"]

# Code, addresses and paths are quoted as they are.
_CODE = Pattern(
    r"```.*?(?:```|\Z)|`[^`\n]+`|https?://[^\s<>，。；、）]+|(?<![\w/.-])(?=[\d./-]*[A-Za-z_])[\w.-]*/[\w./-]{2,}",
    re.DOTALL | re.ASCII,
)
# "tomorrow (2026-03-05)", "2026-03-05（明天）": somebody has said it already.
_DATED_AFTER = Pattern(r"\s?[(（\[,，]?\s?(?:\d{4}-\d\d|\d{1,2}[月/]\d)")
_DATED_BEFORE = Pattern(r"\d{4}-\d\d-\d\d\s?[(（\[,，]\s?\Z")


def dated(text: str, when: datetime) -> str:
    """The text with its relative dates made absolute as of `when`; what is unclear stays as it was said."""
    pieces: list[str] = []
    done = 0
    for found in _found(text, when):
        if found.said is None or _is_dated(text, found):
            continue
        pieces += (text[done : found.start], found.said)
        done = found.end
    return "".join(pieces) + text[done:]


def mentioned(text: str, when: datetime) -> tuple[Span, ...]:
    """The stretches of days that a text names, absolute or relative to `when`, in its order, each once.

    Where the year is missing it is the one that brings the date nearest to `when`.
    """
    return tuple(dict.fromkeys(found.span for found in _found(text, when)))


def without_days(text: str, when: datetime) -> str:
    """The text with the days that it names taken out."""
    pieces: list[str] = []
    done = 0
    for found in _found(text, when):
        pieces.append(text[done : found.start])
        done = found.end
    return " ".join((*pieces, text[done:]))


def _found(text: str, when: datetime) -> list[Found]:
    lowered, today = text.lower(), when.date()
    taken = [match.span() for match in _CODE().finditer(text)] if "`" in text or "/" in text else []
    kept = _apart((*english.found(text, lowered, today), *chinese.found(text, today)), taken)
    return sorted(kept, key=lambda found: found.start)


def _apart(found: Iterable[Found], taken: list[tuple[int, int]]) -> list[Found]:
    """Those that touch neither code nor an earlier one."""
    covered = {place for start, end in taken for place in range(start, end)}
    kept: list[Found] = []
    for one in found:
        places = range(one.start, one.end)
        if covered.isdisjoint(places):
            covered.update(places)
            kept.append(one)
    return kept


def _is_dated(text: str, found: Found) -> bool:
    return bool(
        _DATED_AFTER().match(text, found.end)
        or _DATED_BEFORE().search(text[max(0, found.start - 16) : found.start])
    )
