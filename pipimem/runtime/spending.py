"""What thoughts have cost in tokens, by run and by task of a channel today, for the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime

from pipimem.notes.operations import Tokens
from pipimem.notes.usage import Usage
from pipimem.sidecar.contracts import Call

# Thoughts that were cut off never ask for their sum; beyond so many the oldest is dropped.
_MOST_RUNS = 1_000


class Spending:
    """Counts along with the usage ledger; `earlier` gives what that holds since a time, read once a day."""

    def __init__(self, earlier: Callable[[datetime], Iterable[Usage]]) -> None:
        self._earlier = earlier
        self._runs: Counter[str] = Counter()
        self._day = ""
        self._today: Counter[tuple[str, str]] = Counter()

    def note(self, usage: Usage) -> None:
        """One attempt at a model, also a failed one."""
        count = usage.tokens_in + usage.tokens_out
        self._runs[usage.correlation] += count
        if len(self._runs) > _MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        if usage.time.startswith(self._day or "-"):
            self._today[usage.channel, usage.task] += count

    def of(self, task: str, call: Call, wall: datetime) -> Tokens | None:
        """What a thought cost, with all of its task today; `None` for one that cost nothing. May read the disk."""
        run = self._runs.pop(call.correlation, 0)
        if not run:
            return None
        if (day := wall.isoformat()[:10]) != self._day:
            midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
            self._today = Counter()
            for usage in self._earlier(midnight):
                self._today[usage.channel, usage.task] += usage.tokens_in + usage.tokens_out
            self._day = day
        return Tokens(run, self._today[call.channel, task])
