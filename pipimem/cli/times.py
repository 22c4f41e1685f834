"""A day, a time or a moment in a channel's past, as people write them at a prompt."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import click

from pipimem.clock import Clock
from pipimem.text.dates import Span, mentioned
from pipimem.text.dates.bounds import later

if TYPE_CHECKING:
    from pipimem.store.looking_back.past import Past, Point

# Nobody counts a year from a day that is half a year away or more: "3月5日" in November is last spring.
_HALF_A_YEAR = timedelta(days=182)
_A_WEEK = timedelta(days=7)
# At most 27 years: no calendar ends there.
_AGO = re.compile(r"(?P<count>[0-9]{1,4})(?P<unit>[dh])")
_UNITS = {"d": "days", "h": "hours"}


class Time(click.ParamType[datetime]):
    """`2026-03-02`, `2026-03-02T09:00+08:00`, `yesterday`, `上周四`, `30d`; without an offset it is local.

    `30d` and `12h` are so long ago, where the time is not `to_come`. Of several days it is the beginning of the first; where it is `to_come`, of the last. An `exact` one takes no words.
    """

    name = "time"

    def __init__(self, *, to_come: bool = False, exact: bool = False) -> None:
        self._to_come, self._exact = to_come, exact

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:  # noqa: ANN401 - click's signature
        """The time a text says."""
        if isinstance(value, datetime):
            return value
        if not self._to_come and not self._exact and (ago := _AGO.fullmatch(str(value))):
            return self._ago(ago, param, ctx)
        try:
            when = datetime.fromisoformat(str(value))
        except ValueError:
            span = None if self._exact else _span(str(value), Clock().now(), to_come=self._to_come)
            if span is None:
                words = (
                    "; words are not taken here"
                    if self._exact
                    else ", yesterday, 3 days ago, 上周 or 3月2日"
                )
                what = (
                    f"write it as 2026-03-02{' or' if self._exact else ','} 2026-03-02T09:00{words}"
                )
                self.fail(
                    f"{value!r} is not a date{' in digits' if self._exact else ''}; {what}",
                    param,
                    ctx,
                )
            when = datetime.combine(span.end if self._to_come else span.start, time())
        try:
            return when if when.tzinfo else when.astimezone()
        except (ValueError, OverflowError):  # an offset would lead out of the years there are
            self.fail(f"{value!r} is no time of our calendar; write it as 2026-03-02", param, ctx)

    def _ago(
        self, ago: re.Match[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            return Clock().now() - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])})
        except (ValueError, OverflowError):
            self.fail(f"{ago[0]!r} is no time of our calendar; write it as 2026-03-02", param, ctx)


def _span(text: str, now: datetime, *, to_come: bool) -> Span | None:
    """The days of a text that names one stretch of them; those without a year are behind us, or `to_come`."""
    spans = mentioned(text, now)
    if len(spans) != 1:
        return None
    (span,) = spans
    has_no_year = mentioned(text, later(now, _A_WEEK)) == spans
    if has_no_year and span.start > now.date() and not to_come:
        span = next(iter(mentioned(text, later(now, -_HALF_A_YEAR))), span)
    return span


class When(click.ParamType[int | datetime]):
    """`2026-03-02`, `2026-03-02T09:00`, `yesterday`, or the number of a change; a date is the beginning of its day.

    An `exact` one takes no words: what is put back must not hang on how a word is read.
    """

    name = "time|seq"

    def __init__(self, *, exact: bool = False) -> None:
        self._time = Time(exact=exact)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Point:  # noqa: ANN401 - click's signature
        """The number or the time a text says."""
        if isinstance(value, int | datetime):
            return value
        return (
            int(value)
            if str(value).isdecimal() and len(str(value)) < 8
            else self._time.convert(value, param, ctx)
        )


def moment(past: Past, sequence: int) -> str:
    """A moment of the past for eyes: the change and its time."""
    found = next((one for one in past.records if one.sequence == sequence), None)
    return f"after change {sequence} ({found.time})" if found else "before the first change"
