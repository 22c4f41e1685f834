"""Stretches of days, and the calendar arithmetic behind "next week" and "三天前".

ValueError or OverflowError beyond it.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `start` to `end`, both included."""

    start: date
    end: date


def day(when: date, days: int = 0) -> Span:
    """One day, some days from `when`."""
    there = when + timedelta(days=days)
    return Span(there, there)


def period(unit: str, when: date, shift: int = 0) -> Span:
    """The day, week, weekend, month, quarter or year that is `shift` of them away from `when`'s.

    A week goes from Monday to Sunday.
    """
    match unit:
        case "day":
            return day(when, shift)
        case "week" | "weekend":
            sunday = when + timedelta(days=7 * shift + 6 - when.weekday())
            return Span(sunday - timedelta(days=6 if unit == "week" else 1), sunday)
        case _:
            size = _MONTHS[unit]
            first = (when.year * 12 + when.month - 1) // size * size + shift * size
            return Span(_month(first).start, _month(first + size - 1).end)


def named(when: date, year: int | None, month: int, day_of_month: int) -> Span:
    """The year, month or day that is named, 0 for what is not.

    With `None` for a year the one nearest to `when`. Raises `ValueError` where no year has the day.
    """
    years = [when.year, when.year - 1, when.year + 1] if year is None else [year]
    spans = filter(None, [_in_year(one, month, day_of_month) for one in years])
    return min(spans, key=lambda span: abs((span.start - when).days))


def weekday_after(when: date, weekday: int) -> Span:
    """The next such weekday, never `when` itself: of today people say "today"."""
    return day(when, (weekday - when.weekday() - 1) % 7 + 1)


def weekday_before(when: date, weekday: int) -> Span:
    """The last such weekday before `when`."""
    return day(when, -((when.weekday() - weekday - 1) % 7 + 1))


def _month(index: int) -> Span:
    year, month = index // 12, index % 12 + 1
    return Span(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _in_year(year: int, month: int, day_of_month: int) -> Span | None:
    try:
        if not month:
            return period("year", date(year, 1, 1))
        if not day_of_month:
            return period("month", date(year, month, 1))
        return day(date(year, month, day_of_month))
    except ValueError:  # 29 February of a common year
        return None
