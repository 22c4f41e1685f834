"""Newcomers of a group: whoever came long after it began, for their first three days of talk.

By the times of the messages, in whatever order they are read: talk that was imported counts with
the days on which it was said, talk that was forgotten no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from pipimem.notes.message import Message

# In its first two weeks a group gathers: whoever speaks by then was there from the beginning.
_GATHERING = timedelta(days=14)
# Somebody who wants to plant a rule comes back for it less often than somebody who belongs there.
_DAYS_OF_TALK = 3
# An earlier time is that of a clock or a platform that has none.
_FIRST_YEAR = 2000


@dataclass(slots=True)
class SpeakingDays:
    """The day a group began, and the first three days on which each of its people spoke."""

    began: date | None = None
    _days: dict[str, tuple[date, ...]] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Counts a message of a named person; of one that was emptied nothing is known."""
        if message.role != "user" or not message.time or not message.content:
            return
        day = message.time.date()
        if day.year < _FIRST_YEAR:
            return
        self.began = min(self.began or day, day)
        days = self._days.get(message.speaker, ())
        if message.speaker and day not in days:
            self._days[message.speaker] = tuple(sorted((*days, day)))[:_DAYS_OF_TALK]

    def newcomers(self, messages: Iterable[Message]) -> frozenset[str]:
        """The ids of the messages whose speakers were newcomers on the day they were said."""
        return frozenset(one.id for one in messages if self._is_of_newcomer(one))

    def _is_of_newcomer(self, message: Message) -> bool:
        days = self._days.get(message.speaker) if message.role == "user" else None
        if not days or not self.began or not message.time:
            return False
        if days[0] - self.began <= _GATHERING:
            return False
        before = [day for day in days if day < message.time.date()]
        return len(before) < _DAYS_OF_TALK
