"""Times at the bounds of the calendar: sums that stay within the years 1 to 9999."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from msgspec import Struct

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


class Span(Struct, frozen=True):
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


def later(when: datetime, by: timedelta) -> datetime:
    """`when + by`; the last or first moment of the calendar where that lies outside of it."""
    try:
        return when + by
    except OverflowError:
        if by > timedelta():
            return datetime.max.replace(tzinfo=when.tzinfo)
        return datetime.min.replace(tzinfo=when.tzinfo)


def days_later(day: date, days: int) -> date:
    """The day so many days later.

    The last or first of the calendar where that lies outside of it.
    """
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def end_of(day: date, zone: tzinfo | None) -> datetime:
    """The midnight after a day; the last moment of the calendar after its last day."""
    return later(datetime.combine(day, time.min, zone), timedelta(days=1))


def aware(when: datetime) -> datetime:
    """A time that can be compared: one without an offset is local time.

    Hands and older tools write such times. This is the one rule for such times: at a prompt, in a
    host's call, in a heading, in a log that is taken in.
    """
    return when if when.tzinfo else local(when)


def local(when: datetime, zone: tzinfo | None = None) -> datetime:
    """A time in a zone, `None` for this machine's.

    As it is, or as UTC, where that leads out of the calendar.
    """
    try:
        return when.astimezone(zone)
    except (ValueError, OverflowError):
        return when if when.tzinfo else when.replace(tzinfo=UTC)
