"""Times at the bounds of the calendar: sums that stay within the years 1 to 9999."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo


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
