"""Stretches of days, and the calendar arithmetic behind "next week" and "三天前"."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `start` to `end`, both included."""

    start: date
    end: date


@dataclass(frozen=True, slots=True)
class Found:
    """A date in a text: `text[start:end]`, the days meant, what to write instead (None: it is absolute)."""

    start: int
    end: int
    span: Span
    said: str | None = None


def day(when: date, days: int = 0) -> Span:
    """One day, some days from `when`. All here raise OverflowError or ValueError outside of the calendar."""
    there = when + timedelta(days=days)
    return Span(there, there)


def week(when: date, weeks: int = 0) -> Span:
    """A week from Monday to Sunday."""
    monday = when + timedelta(days=7 * weeks - when.weekday())
    return Span(monday, monday + timedelta(days=6))


def weekend(when: date, weeks: int = 0) -> Span:
    """The Saturday and Sunday of a week."""
    sunday = week(when, weeks).end
    return Span(sunday - timedelta(days=1), sunday)


def month(year: int, number: int, months: int = 0) -> Span:
    """A month, some months from the given one."""
    index = year * 12 + number - 1 + months
    year, number = index // 12, index % 12 + 1
    first = date(year, number, 1)
    return Span(first, first.replace(day=calendar.monthrange(year, number)[1]))


def year(number: int) -> Span:
    """A whole year."""
    return Span(date(number, 1, 1), date(number, 12, 31))


def weekday_after(when: date, weekday: int) -> Span:
    """The next such weekday, never `when` itself: of today people say "today"."""
    return day(when, (weekday - when.weekday() - 1) % 7 + 1)


def weekday_before(when: date, weekday: int) -> Span:
    """The last such weekday before `when`."""
    return day(when, -((when.weekday() - weekday - 1) % 7 + 1))


def nearest(when: date, number: int, day_of_month: int | None = None) -> Span:
    """A month, or a day of it, of the year that brings it nearest to `when`: "March 5" without a year."""
    spans = (_in_year(when.year + years, number, day_of_month) for years in (0, -1, 1))
    return min((span for span in spans if span), key=lambda span: abs((span.start - when).days))


def _in_year(number: int, month_number: int, day_of_month: int | None) -> Span | None:
    try:
        return (
            month(number, month_number)
            if day_of_month is None
            else day(date(number, month_number, day_of_month))
        )
    except (ValueError, OverflowError):
        return None  # 29 February of a common year
