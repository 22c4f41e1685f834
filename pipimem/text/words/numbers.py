"""The numbers of a text by value, however they are written: 1,200, $1.2k, twelve, 十二."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from pipimem import resources
from pipimem.text.dates.calendar_words import WEEKDAY_EN, WEEKDAY_ZH
from pipimem.text.patterns import Pattern

# Years and days: of these a writer computes some from the day on which a message was said.
_MONTH_EN = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = Pattern(
    r"(?<![\d.])(?:19|20|21)\d\d(?:[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?)?(?![\d.,]*\d)"
    rf"|\b{_MONTH_EN}\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH_EN}"
    r"|\d{1,2}月(?:\d{1,2}[日号]?)?|\d{1,2}[日号]",
    re.IGNORECASE,
)
_CLOCK = Pattern(r"(?<![\d:])([01]?\d|2[0-4])[:：]([0-5]\d)(?![\d:])")
# What stands in one piece with letters, such as a version or a name, is looked up as it is.
_NUMBER = Pattern(
    r"(?<![A-Za-z\d_.-])(?P<plain>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<times>[kK]\b|[mM]\b|百万|万|千|百)?"
)
_TIMES = {"k": 1_000, "m": 1_000_000, "百": 100, "千": 1_000, "万": 10_000, "百万": 1_000_000}
_HAN_NUMBER = Pattern(r"[零〇一二两三四五六七八九十百千万廿]+")
_WEEKDAY = Pattern(rf"\b{WEEKDAY_EN}(?=s?\b)|{WEEKDAY_ZH}")
_WORD = re.compile(r"[A-Za-z]+|[^\sA-Za-z-]")
_SMALL = {"百": 100, "千": 1_000, "万": 10_000}
_HALF_DAY, _TEN = 12, 10


class Number(Struct, frozen=True):
    """A number as it is written, and its value."""

    text: str
    value: float


def written_numbers(text: str) -> list[Number]:
    """Return the numbers that a text writes in digits, without its days and the time of day."""
    bare = _CLOCK().sub(" ", _DAY().sub(" ", text))
    return [_number(found) for found in _NUMBER().finditer(bare)]


def clock_times(text: str) -> list[tuple[str, int, int]]:
    """Return the times of day in a text as they are written, with hour and minute."""
    return [(found[0], int(found[1]), int(found[2])) for found in _CLOCK().finditer(text)]


def number_values(text: str) -> frozenset[float]:
    """Return all values that a text may mean, also those of its days, times and words."""
    found = {_number(each).value for each in _NUMBER().finditer(text)}
    found.update(float(each) for each in re.findall(r"\d+(?:\.\d+)?", text.replace(",", "")))
    found.update(float(each) for each in re.findall(r"\d+", text))
    words = _words()
    found.update(_values_of_words([word.casefold() for word in _WORD.findall(text)], words))
    found.update(float(hour % _HALF_DAY) for _, hour, _ in clock_times(text))
    found.update(_values_of_han(text, words))
    return frozenset(found)


def is_time_in(hour: int, minute: int, known: frozenset[float]) -> bool:
    """Return whether numbers that were said may mean a time of day, in 12 or 24 hours."""
    hours = {float(hour), float(hour % _HALF_DAY), float(hour % _HALF_DAY + _HALF_DAY)}
    minutes = {0.0: True, 30.0: 0.5 in known, 15.0: 0.25 in known, 45.0: 0.25 in known}
    has_minute = float(minute) in known or minutes.get(float(minute), False)
    return not hours.isdisjoint(known) and has_minute


def values_of(text: str) -> frozenset[str]:
    """Return what two wordings of a thing have in common: numbers by value, and weekdays.

    Days are left out: a writer computes them from the day on which a message was said.
    """
    bare = _DAY().sub(" ", text.casefold())
    words = _counting()
    numbers = [_number(found).value for found in _NUMBER().finditer(bare)]
    numbers += [words[word] for word in re.findall("[a-z]+", bare) if word in words]
    days = _WEEKDAY().findall(bare)
    han = _HAN_NUMBER().findall(_WEEKDAY().sub(" ", bare))
    numbers += [_han_value(found, _words()) for found in han]
    return frozenset({f"{value:g}" for value in numbers}.union(days))


def _number(found: re.Match[str]) -> Number:
    value = float(found["plain"].replace(",", ""))
    times = _TIMES.get((found["times"] or "").casefold(), 1)
    return Number(found[0], value * times)


def _values_of_words(spoken: list[str], words: dict[str, float]) -> Iterator[float]:
    """Yield the values of English words, also of several: twenty five, three hundred."""
    total = 0.0
    for word in spoken:
        value = words.get(word)
        if value is None:
            if word != "and":
                total = 0.0
            continue
        yield value
        total = total * value if value >= _SMALL["百"] and total else total + value
        yield total


def _values_of_han(text: str, words: dict[str, float]) -> Iterator[float]:
    """Yield the values of Chinese numbers as they are read, of their characters, and of words."""
    for number in _HAN_NUMBER().findall(text):
        yield _han_value(number, words)
        yield _spoken_han_value(number, words)
        yield from (words[sign] for sign in number if sign in words)
    yield from (words[word] for word in words if not word.isascii() and word in text)


def _spoken_han_value(text: str, words: dict[str, float]) -> float:
    """Return the value of a number whose last unit is not said: 一万五 is 15,000."""
    unit = words.get(text[-2:-1], 0.0)
    last = words.get(text[-1], 0.0)
    if unit < _SMALL["百"] or last >= _TEN:
        return _han_value(text, words)
    return _han_value(text[:-1], words) + last * unit / _TEN


def _han_value(text: str, words: dict[str, float]) -> float:
    """Return the value of a number in Chinese characters."""
    total = part = 0.0
    for sign in text:
        value = words.get(sign, 0.0)
        if sign == "万":
            total, part = (total + part) * value, 0.0
        elif value >= _SMALL["百"] or sign in "十廿":
            total += (part or 1) * value if sign != "廿" else value
            part = 0.0
        else:
            part = part * 10 + value if part else value
    return total + part


@cache
def _words() -> dict[str, float]:
    return _counting() | _read("implied")


@cache
def _counting() -> dict[str, float]:
    """The words that are nothing but a number."""
    return _read("")


def _read(section: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in resources.sections("words/numbers")[section]:
        value, _, words = line.partition(" = ")
        found.update((word, float(value)) for word in words.split(", "))
    return found
