"""The clock the runtime reads, as a value tests can replace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import SettingsError


def _wall() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True, slots=True)
class Clock:
    """Times with an offset: `now` of the conversation, `wall` real (budgets, changes).

    They differ only in a replay, which lives in the time of the recorded messages. `monotonic`
    gives seconds for intervals.
    """

    now: Callable[[], datetime] = _wall
    wall: Callable[[], datetime] = _wall
    monotonic: Callable[[], float] = time.monotonic

    def require_offsets(self) -> None:
        """Raises `SettingsError` for a clock whose times have no offset."""
        if self.now().tzinfo is None or self.wall().tzinfo is None:
            raise SettingsError(
                "the clock's times need an offset: datetime.now().astimezone(), not datetime.now()"
            )
