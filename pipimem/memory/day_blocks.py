"""Blocks of HISTORY.md by day: a bullet stands under the day of the messages it rests on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta

from pipimem.notes.message import Message, newest_time
from pipimem.notes.operations import AddBlock, Bullet
from pipimem.text.dates.bounds import aware, end_of, later

# Talk that runs on past midnight belongs to the day it began on, until it is silent for so long.
_SILENCE = timedelta(hours=2)
# A quote is longer than a summary; more of them in one block would be a transcript.
_MOST_QUOTES = 8
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


def when_said(sources: Collection[str], messages: Collection[Message]) -> str:
    """When the newest of the messages with these ids was said, ISO 8601; empty where unknown.

    A line whose sources are not among the messages is as old as the newest of them.
    """
    named = [message for message in messages if message.id in sources] or messages
    newest = newest_time(named)
    return newest.isoformat(timespec="seconds") if newest else ""


def by_day(bullets: Iterable[Bullet]) -> list[tuple[Bullet, ...]]:
    """The bullets by time, in groups, one for each day's talk; those without a time come first."""
    days: list[list[Bullet]] = []
    for bullet in sorted(bullets, key=lambda each: _time(each) or _UNKNOWN):
        when = _time(bullet)
        times = _times(days[-1]) if days else []
        if not days or (when and times and when >= day_ends(times[0], times[-1])):
            days.append([])
        days[-1].append(bullet)
    return [tuple(day) for day in days]


def of_ended_days(
    bullets: Iterable[Bullet], now: datetime, newest: Callable[[], datetime | None]
) -> tuple[tuple[Bullet, ...], datetime | None]:
    """The bullets of days that are over, and when the newest day ends; `None` without bullets.

    `newest` gives the time of the newest message: a day goes on that left no bullet last. It is
    asked only where the day seems to be over.
    """
    days = by_day(bullets)
    if not days:
        return (), None
    times = _times(days[-1]) or [_UNKNOWN]
    ends = day_ends(times[0], times[-1])
    last = newest() if ends <= now else None
    if last and last < ends:
        ends = day_ends(times[0], last)
    over = days if ends <= now else days[:-1]
    return tuple(bullet for day in over for bullet in day), ends


def day_ends(first: datetime, last: datetime) -> datetime:
    """When a day's talk from `first` to `last` is over, if nothing more is said."""
    return max(end_of(first.date(), first.tzinfo), later(last, _SILENCE))


def weightiest(bullets: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """The bullets, with at most `_MOST_QUOTES` quotes a day among them: the weightiest."""
    return tuple(bullet for day in by_day(bullets) for bullet in _weightiest(day))


def day_blocks(
    bullets: Iterable[Bullet], start: datetime, end: datetime, title: str = ""
) -> tuple[AddBlock, ...]:
    """A block for each day that the bullets are of, oldest first.

    The talk went from `start` to `end`; a block of another day begins or ends with its bullets. The
    title is that of the day with most bullets.
    """
    days = by_day(bullets)
    longest = max(days, key=len, default=())
    return tuple(_block(day, start, end, title if day is longest else "") for day in days)


def _block(day: tuple[Bullet, ...], start: datetime, end: datetime, title: str) -> AddBlock:
    times = _times(day) or [start, end]
    first, last = min(times), max(times)
    if start <= first < day_ends(start, start):
        first = start
    if last <= end < day_ends(first, last):
        last = end
    return AddBlock(first, last, title, day)


def _times(day: Iterable[Bullet]) -> list[datetime]:
    times = (_time(bullet) for bullet in day)
    return [time for time in times if time]


def _time(bullet: Bullet) -> datetime | None:
    return aware(datetime.fromisoformat(bullet.when)) if bullet.when else None


def _weightiest(day: tuple[Bullet, ...]) -> tuple[Bullet, ...]:
    quotes = sorted((bullet for bullet in day if bullet.weight), key=lambda each: -each.weight)
    kept = quotes[:_MOST_QUOTES]
    return tuple(bullet for bullet in day if not bullet.weight or bullet in kept)
