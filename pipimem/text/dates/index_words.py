"""Dates as index words that meet whatever way they were written: in digits, in Chinese, in English.

A full date becomes `2024-05-01`, `05-01`, `2024-05`, `2024` and `5月`; one without a year `05-01` and `5月`.
Nothing relative is read here: relative dates are made absolute when they are written down.
"""

from __future__ import annotations

import re

from pipimem.text.dates.english_calendar import MONTHS
from pipimem.text.numerals import number
from pipimem.text.patterns import Pattern

_YEAR = r"(?:19|20)\d\d"
_MONTH = r"(?:1[0-2]|0?[1-9])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"

_HAN_YEAR = r"[一二][〇零一二三四五六七八九]{3}"
_HAN_MONTH = r"(?:十[一二]?|[一二三四五六七八九])"
_HAN_DAY = r"(?:三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"

_NAMED = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)

# `\w` would hold Han: "在2024-05-01发布" has no white space around its date.
_ENDS = r"(?![a-zA-Z0-9_]|[./-]\d)"
_CLOCK = r"T(?P<time>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"

# Taken out of the text: their digits mean nothing alone. "5月天", "一月内" are no months.
_WRITTEN = Pattern(
    rf"(?<![a-zA-Z0-9_.])(?P<iso_year>{_YEAR})(?P<sep>[-/.])(?P<iso_month>{_MONTH})(?P=sep)(?P<iso_day>{_DAY})(?:{_CLOCK}|{_ENDS})"
    rf"|(?<![a-zA-Z0-9_./-])(?P<only_year>{_YEAR})-(?P<only_month>1[0-2]|0[1-9]){_ENDS}"
    rf"|(?:(?<![\d〇零一二三四五六七八九])(?P<zh_year>{_YEAR}|{_HAN_YEAR})[ ]?年[ ]?)?(?<![\d一二三四五六七八九十])"
    rf"(?P<zh_month>{_MONTH}|{_HAN_MONTH})[ ]?月(?:份|[ ]?(?P<zh_day>{_DAY}|{_HAN_DAY})[ ]?[日号號]|(?![天内之]))"
    rf"|(?<![一二三四五六七八九十])(?P<zh_year_alone>{_HAN_YEAR})年"
)
# Left in the text: "June" is a word of its own.
_ENGLISH = Pattern(
    rf"\b(?:(?P<first_month>{_NAMED})\s(?P<day_after>{_DAY})(?:st|nd|rd|th)?(?:,?\s(?P<year_1>{_YEAR}))?"
    rf"|(?P<day_before>{_DAY})(?:st|nd|rd|th)?\s(?:of\s)?(?P<second_month>{_NAMED})(?:,?\s(?P<year_2>{_YEAR}))?"
    rf"|(?P<lone_month>{_NAMED}),?\s(?P<year_3>{_YEAR}))\b",
    re.IGNORECASE,
)


def without_dates(text: str) -> tuple[str, list[str]]:
    """The text without its dates in digits or Chinese, and the index words of all its dates."""
    words: list[str] = []

    def taken(found: re.Match[str]) -> str:
        year = found["iso_year"] or found["only_year"] or found["zh_year"] or found["zh_year_alone"]
        month = found["iso_month"] or found["only_month"] or found["zh_month"]
        words.extend(
            _date_words(_number(year), _number(month), _number(found["iso_day"] or found["zh_day"]))
        )
        return f" {found['time'] or ''} "

    rest = _WRITTEN().sub(taken, text)
    lowered = text.casefold()
    named = any([month in lowered for month in MONTHS])  # noqa: C419 - twelve short looks, and this runs for each text
    for found in _ENGLISH().finditer(text) if named else ():
        name = found["first_month"] or found["second_month"] or found["lone_month"]
        year = found["year_1"] or found["year_2"] or found["year_3"]
        month = MONTHS.index(name[:3].lower()) + 1
        words.extend(
            _date_words(_number(year), month, _number(found["day_after"] or found["day_before"]))
        )
    return rest, words


def _number(written: str | None) -> int:
    """The number as written; 0 for what is not there."""
    return number(written) if written else 0


def _date_words(year: int, month: int, day: int) -> list[str]:
    words = []
    if day:
        short = f"{month:02}-{day:02}"
        words += [f"{year}-{short}", short] if year else [short]
    if year and month:
        words.append(f"{year}-{month:02}")
    if year:
        words.append(str(year))
    return [*words, f"{month}月"] if month else words
