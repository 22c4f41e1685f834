"""The words of the calendar in English and Chinese, as patterns and as numbers.

Weekdays, months, small numbers.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date

from pipimem.text.patterns import Pattern

# Without a year 29 February is a day.
_LEAP_YEAR = 2024

_YEAR = r"(?:19|20)\d\d"
_MONTH = r"(?:1[0-2]|0?[1-9])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"

_HAN_YEAR = r"[一二][〇零一二三四五六七八九]{3}"
_HAN_MONTH = r"(?:十[一二]?|[一二三四五六七八九])"
_HAN_DAY = r"(?:三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"

_NAMED = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)

# `\w` would hold Han: "在2024-05-01发布" has no white space around its date.
_ENDS = r"(?![a-zA-Z0-9_]|[./-]\d)"
_CLOCK = r"T(?P<time>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"

# Taken out of the text: their digits mean nothing alone. "5月天", "一月内" are no months.
_WRITTEN = Pattern(
    rf"(?<![a-zA-Z0-9_.])(?P<iso_year>{_YEAR})(?P<sep>[-/.])(?P<iso_month>{_MONTH})"
    rf"(?P=sep)(?P<iso_day>{_DAY})(?:{_CLOCK}|{_ENDS})"
    rf"|(?<![a-zA-Z0-9_./-])(?P<only_year>{_YEAR})-(?P<only_month>1[0-2]|0[1-9]){_ENDS}"
    rf"|(?:(?<![\d〇零一二三四五六七八九])(?P<zh_year>{_YEAR}|{_HAN_YEAR})[ ]?年[ ]?)?"
    rf"(?<![\d一二三四五六七八九十])"
    rf"(?P<zh_month>{_MONTH}|{_HAN_MONTH})[ ]?月"
    rf"(?:份|[ ]?(?P<zh_day>{_DAY}|{_HAN_DAY})[ ]?[日号號]|(?![天内之]))"
    rf"|(?<![一二三四五六七八九十])(?P<alone_zh_year>{_HAN_YEAR})年"
)
# Left in the text: "June" is a word of its own.
_ENGLISH = Pattern(
    rf"\b(?:(?P<first_month>{_NAMED})\s(?P<first_day>{_DAY})(?:st|nd|rd|th)?"
    rf"(?:,?\s(?P<first_year>{_YEAR}))?"
    rf"|(?P<second_day>{_DAY})(?:st|nd|rd|th)?\s(?:of\s)?(?P<second_month>{_NAMED})"
    rf"(?:,?\s(?P<second_year>{_YEAR}))?"
    rf"|(?P<lone_month>{_NAMED}),?\s(?P<third_year>{_YEAR}))\b",
    re.IGNORECASE,
)


def without_dates(text: str) -> tuple[str, list[str]]:
    """The text without its dates in digits or Chinese, and the index words of all its dates."""
    words: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        named = _date_words(*_numbers(found))
        words.extend(named)
        return f" {found['time'] or ''} " if named else found[0]

    rest = _WRITTEN().sub(replaced, text)
    lowered = text.casefold()
    named = any([month in lowered for month in MONTHS])  # noqa: C419 - twelve short looks a text
    for found in _ENGLISH().finditer(text) if named else ():
        words.extend(_date_words(*_numbers(found)))
    return rest, words


def _numbers(found: re.Match[str]) -> tuple[int, int, int]:
    """Year, month and day of a match; 0 for what it does not say."""
    parts = {"year": 0, "month": 0, "day": 0}
    for name, said in found.groupdict().items():
        part = name.rpartition("_")[2]
        if said and part in parts:
            parts[part] = number_of(said.lower())
    return parts["year"], parts["month"], parts["day"]


def _date_words(year: int, month: int, day: int) -> list[str]:
    """The index words of a date, 0 for what it does not say; none for 30 February."""
    if day and day > monthrange(year or _LEAP_YEAR, month)[1]:
        return []
    short = f"{month:02}-{day:02}"
    words = (
        (year and day, f"{year}-{short}"),
        (day, short),
        (year and month, f"{year}-{month:02}"),
        (year, str(year)),
        (month, f"{month}月"),
    )
    return [word for is_said, word in words if is_said]


ENGLISH = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT = tuple(name[:3] for name in ENGLISH)
# Sunday has two names.
CHINESE = "一二三四五六日天"

# To stand in a pattern that ignores case.
WEEKDAY_EN = f"(?:{'|'.join(ENGLISH)})"
WEEK_ZH = "(?:周|星期|礼拜)"
WEEKDAY_ZH = f"{WEEK_ZH}[{CHINESE}]"

_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MONTHS = tuple(name[:3].lower() for name in _MONTH_NAMES)
_SMALL = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBERS = {
    "": 0,
    "a": 1,
    "an": 1,
    "a couple of": 2,
    **{word: place for place, word in enumerate(_SMALL, 1)},
}

_DIGITS = "〇一二三四五六七八九"
_OTHER_FORMS = str.maketrans("零两", "〇二")


def chinese_number(written: str) -> int:
    """The number in digits, in characters up to 99, or character by character as years are read."""
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.translate(_OTHER_FORMS).rpartition("十")
    if ten:
        return 10 * (_digit(tens) or 1) + _digit(ones)
    return int("".join(str(_DIGITS.index(digit)) for digit in ones))


def _digit(written: str) -> int:
    return _DIGITS.index(written) if written else 0


def group(match: re.Match[str], name: str) -> str:
    """A group of the match, in lower case; empty where it is not set, or not in this rule."""
    return (match.groupdict().get(name) or "").lower()


def number(match: re.Match[str], name: str) -> int:
    """The number in a group: "3", "three", "a", "March", 三; 0 where it is not set."""
    return number_of(group(match, name))


def number_of(said: str) -> int:
    """The number of a word in lower case, also of the name of a month; 0 for no word."""
    if said in _NUMBERS:
        return _NUMBERS[said]
    return MONTHS.index(said[:3]) + 1 if said[:3] in MONTHS else chinese_number(said)


def weekday(match: re.Match[str]) -> int:
    """The weekday of the match in either language, Monday is 0."""
    said = group(match, "weekday")
    return SHORT.index(said[:3]) if said.isascii() else min(CHINESE.index(said), 6)


def month_name(when: date) -> str:
    """ "March 2026"."""
    return f"{_MONTH_NAMES[when.month - 1]} {when.year}"
