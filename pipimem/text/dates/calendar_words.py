"""The words of the calendar in English and Chinese, as patterns and as numbers.

Weekdays, months, small numbers.
"""

from __future__ import annotations

import re
from datetime import date

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
