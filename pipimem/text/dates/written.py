"""Dates written out: 2026-03-05, March 5th, "5 March 2024", 5/3, "May 2023", "in 2023"."""

from __future__ import annotations

import re
from datetime import date

from pipimem.text.dates.english_calendar import MONTH, MONTH_HINTS, group, month_number, rule
from pipimem.text.dates.rules import Meant
from pipimem.text.dates.spans import day, month, nearest, year


def _iso(match: re.Match[str], _: date) -> Meant | None:
    if not group(match, "d"):
        return Meant(month(int(match["y"]), int(match["m"])))
    return Meant(day(date(int(match["y"]), int(match["m"]), int(match["d"]))))


def _named_day(match: re.Match[str], when: date) -> Meant | None:
    number, of_month = month_number(match), int(match["day"])
    if group(match, "year"):
        return Meant(day(date(int(match["year"]), number, of_month)))
    return Meant(nearest(when, number, of_month))


def _named_month(match: re.Match[str], when: date) -> Meant | None:
    number = month_number(match)
    return Meant(
        month(int(match["year"]), number) if group(match, "year") else nearest(when, number)
    )


def _slashed(match: re.Match[str], when: date) -> Meant | None:
    first, second = int(match["a"]), int(match["b"])
    if (first, second) == (24, 7):
        return None
    number, of_month = (first, second) if first <= 12 else (second, first)
    if group(match, "year"):
        full = int(match["year"])
        return Meant(day(date(full + 2000 if full < 100 else full, number, of_month)))
    return Meant(nearest(when, number, of_month))


def _bare_year(match: re.Match[str], _: date) -> Meant | None:
    return Meant(year(int(match["year"])))


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ISO_DAY = (
    r"(?P<y>(?:19|20)\d\d)(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<d>\d{1,2})(?![-/]?\d)"
    r"(?:(?=T\d)T[\d:]+)?"
)

# The order counts: longer readings first.
WRITTEN = (
    rule("1|2", _ISO_DAY, _iso),
    rule("19|20", r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?![-.\d])", _iso),
    rule(MONTH_HINTS, rf"{MONTH}[ ]{_ORDINAL}(?:,?[ ]{_YEAR})?(?![:\d]|,\d)", _named_day),
    rule(MONTH_HINTS, rf"{_ORDINAL}(?:[ ]of)?[ ]{MONTH}(?:,?[ ]{_YEAR})?", _named_day),
    rule(MONTH_HINTS, rf"{MONTH},?[ ]{_YEAR}", _named_month),
    rule(
        "/", r"(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<year>(?:20)?\d\d))?(?!\d|%|[ ]of\b)", _slashed
    ),
)
# Weaker readings, for what the relative rules ("in March next year") have left.
BARE = (
    rule("in |since |during ", rf"(?:in|since|during)[ ]{MONTH}", _named_month),
    rule(
        "in |since |during |of |year ",
        rf"(?:in|since|during|of|year)[ ]{_YEAR}(?![-.,]?\d)",
        _bare_year,
    ),
)
