"""The English words of the calendar, as patterns: weekdays, months, small numbers."""

from __future__ import annotations

import re
from datetime import date

from pipimem.text.dates.rules import Reader, Rule
from pipimem.text.patterns import Pattern
from pipimem.text.weekdays import SHORT, WEEKDAY_EN

# Not inside of names, paths, addresses and hyphenated words; next to Chinese is fine.
_LEFT = r"(?<![A-Za-z0-9_/@.#$'’-])"
_RIGHT = r"(?![A-Za-z0-9_/@]|-[A-Za-z]|\.[A-Za-z0-9])"

WEEKDAY = (
    rf"(?P<weekday>{WEEKDAY_EN}"
    r"|(?-i:Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)(?![a-z]))"
)
WEEKDAY_HINTS = "|".join(SHORT)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_HINTS = "|".join(MONTHS)
# "may" and "march" are words, and so are some short forms: those only with a capital letter, or before a day.
MONTH = (
    r"(?P<month>(?:(?-i:March|May|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
    r"|january|february|april|june|july|august|september|october|november|december"
    r"|march(?=[ ]\d)|may(?=[ ]\d{1,2}(?:st|nd|rd|th|,)))\b\.?)"
)
_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
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
    "a": 1,
    "an": 1,
    "a couple of": 2,
    **{word: place for place, word in enumerate(_SMALL, 1)},
}
NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"


def rule(hints: str, pattern: str, reader: Reader) -> Rule:
    """A rule whose pattern stands free in the text; the hints are divided by `|`."""
    return Rule(
        frozenset(hints.split("|")), Pattern(_LEFT + pattern + _RIGHT, re.IGNORECASE), reader
    )


def group(match: re.Match[str], name: str) -> str:
    """A group of the match, in lower case; empty where it is not set, or not in this rule."""
    return (match.groupdict().get(name) or "").lower()


def number(match: re.Match[str]) -> int:
    """The number of the match: "3", "three", "a"."""
    words = group(match, "number")
    return _NUMBERS[words] if words in _NUMBERS else int(words)


def weekday_number(match: re.Match[str]) -> int:
    """The weekday of the match, Monday is 0."""
    return SHORT.index(group(match, "weekday")[:3])


def month_number(match: re.Match[str]) -> int:
    """The month of the match, 1 to 12."""
    return MONTHS.index(group(match, "month")[:3]) + 1


def month_name(when: date) -> str:
    """ "March 2026"."""
    return f"{_MONTH_NAMES[when.month - 1]} {when.year}"
