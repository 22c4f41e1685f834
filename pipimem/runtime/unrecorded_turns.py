"""Which turns of a channel are off the record and not over yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipimem.runtime.turns import Turn


@dataclass(slots=True)
class UnrecordedTurns:
    """Turns off the record between `before_turn` and `after_turn`, each by its speaker and time.

    One that its host broke off is over with the next turn of its speaker that ends.
    """

    _open: set[tuple[str, datetime]] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, turn: Turn) -> None:
        """A turn begins."""
        if not turn.record:
            self._open.add((turn.speaker, turn.time))

    def end(self, turn: Turn) -> None:
        """A turn is over, and with it those of its speaker that began before it."""
        over = {(who, time) for who, time in self._open if who == turn.speaker}
        self._open -= {(who, time) for who, time in over if time <= turn.time}

    def clear(self) -> None:
        """All are over."""
        self._open.clear()
