"""For tests of bots: a clock that stands still, and an assistant that answers as it is told."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipimem.clock import Clock
from pipimem.sidecar.scripted import Scripted as ScriptedAssistant

__all__ = ["FixedClock", "ScriptedAssistant"]


class FixedClock(Clock):
    """A clock that shows `start` until it is moved; hand it to `Pipimem(..., clock=clock)`.

    `start` needs an offset; raises `ValueError` without one.
    """

    time: datetime

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError(
                "FixedClock needs a time with an offset, such as 2026-03-02T09:00:00+08:00"
            )
        super().__init__(now=self._now, wall=self._now, monotonic=self._seconds)
        object.__setattr__(self, "time", start)

    def advance(self, delta: timedelta) -> None:
        """Moves the clock forward. Raises `ValueError` for a negative `delta`."""
        if delta < timedelta(0):
            raise ValueError(f"a clock goes forward only, not by {delta}")
        object.__setattr__(self, "time", self.time + delta)

    def _now(self) -> datetime:
        return self.time

    def _seconds(self) -> float:
        return self.time.timestamp()
