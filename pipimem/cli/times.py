"""A day, a time or a moment in a channel's past, as people write them at a prompt."""

from __future__ import annotations

import re
from datetime import MINYEAR, datetime, time, timedelta
from typing import TYPE_CHECKING

import click

from pipimem.clock import Clock
from pipimem.text.dates import Span, mentioned, without_days
from pipimem.text.dates.bounds import aware, later

if TYPE_CHECKING:
    from pipimem.runtime.history import Point

# Nobody counts a year from a day that is half a year away or more: "3月5日" in November is last
# spring.
_HALF_A_YEAR = timedelta(days=182)
_A_WEEK = timedelta(days=7)
# At most 27 years: no calendar ends there.
_AGO = re.compile(r"(?P<count>[0-9]{1,4})(?P<unit>[dh])")
_CHANGE = re.compile(r"[0-9]{1,7}")
_UNITS = {"d": "days", "h": "hours"}
# Read by `fromisoformat` as its Monday.
_WEEK = re.compile(r"[0-9]{4}-?W[0-9]{2}")
_DIGIT = re.compile(r"\d")


def past_time(text: str) -> datetime:
    """`2026-03-02`, `2026-03-02T09:00+08:00`, `yesterday`, `上周四`, or so long ago: `30d`, `12h`.

    Of several days it is the beginning of the first; without an offset it is local. Raises
    `BadParameter`.
    """
    ago = _AGO.fullmatch(text)
    if ago:
        return later(Clock().now(), -timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])}))
    return _time(text, to_come=False)


def coming_day(text: str) -> datetime:
    """A day that is to come: `2026-03-02`, `tomorrow`, `下周`, `2026-W10`; of several the last.

    Raises `BadParameter`, also for a first and a last day: the last one alone is what is asked for.
    """
    when = _time(text, to_come=True)
    if _WEEK.fullmatch(text):
        return later(when, timedelta(days=6))
    if _has_another_day(text):
        raise click.BadParameter(f"{text!r} says more than one day; give the last day alone")
    return when


def past_moment(text: str) -> Point:
    """A time, or the number of a change, right after it. Raises `BadParameter`."""
    return int(text) if _CHANGE.fullmatch(text) else past_time(text)


def exact_moment(text: str) -> Point:
    """A time in digits, or the number of a change. Raises `BadParameter`.

    What is put back must not hang on how a word is read.
    """
    if _CHANGE.fullmatch(text):
        return int(text)
    try:
        return _in_the_calendar(text, datetime.fromisoformat(text))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a date in digits; words are not taken here. Write it as 2026-03-02 "
            "or 2026-03-02T09:00, or give the number of a change: `pipimem log CHANNEL` lists them"
        ) from None


def change_number(text: str) -> int:
    """The number of a change, from 1. Raises `BadParameter`."""
    if not _CHANGE.fullmatch(text) or not int(text):
        raise click.BadParameter(
            f"{text!r} is not the number of a change; `pipimem log CHANNEL` lists them"
        )
    return int(text)


def _time(text: str, *, to_come: bool) -> datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        span = _span(text, Clock().now(), to_come=to_come)
        if span is None:
            ways = "2026-03-02, 2026-03-02T09:00, yesterday, 3 days ago, 上周 or 3月2日"
            raise click.BadParameter(f"{text!r} is not a date; write it as {ways}") from None
        when = datetime.combine(span.end if to_come else span.start, time())
    return _in_the_calendar(text, when)


def _has_another_day(text: str) -> bool:
    """Whether a text says more days than those that are read: 12月1日到5日, December 1-5."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        now = Clock().now()
        rest = without_days(text, now)
        return bool(_DIGIT.search(rest) or mentioned(rest, now))
    return False


def _in_the_calendar(text: str, when: datetime) -> datetime:
    """The time with an offset.

    Raises `BadParameter` for the first year: an offset may lead out of it.
    """
    if when.year == MINYEAR:
        raise click.BadParameter(f"{text!r} is no time of our calendar; write it as 2026-03-02")
    return aware(when)


def _span(text: str, now: datetime, *, to_come: bool) -> Span | None:
    """The days of a text that names one stretch of them.

    Those without a year are behind us, or `to_come`.
    """
    spans = mentioned(text, now)
    if len(spans) != 1:
        return None
    (span,) = spans
    has_no_year = mentioned(text, later(now, _A_WEEK)) == spans
    if has_no_year and span.start > now.date() and not to_come:
        span = next(iter(mentioned(text, later(now, -_HALF_A_YEAR))), span)
    return span
