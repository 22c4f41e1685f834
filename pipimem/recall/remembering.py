"""What was found for the last questions, for a minute and until the memory changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipimem.recall.recalling import Recall

# Recency and "today" count from the time of the question: what a minute changes about them, nobody notices.
_FOR = timedelta(seconds=60)
# A host that asks again asks soon; a hundred answers are half a megabyte.
_MOST = 100

Asked = tuple[object, ...]
"""All that decides an answer but the memory itself and the time: the text, who asks, how much is wanted."""


@dataclass(slots=True)
class Answers:
    """The last answers, the newest last; to be asked from any thread."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _by_question: OrderedDict[Asked, tuple[datetime, Recall]] = field(default_factory=OrderedDict)

    def to(self, asked: Asked, now: datetime) -> Recall | None:
        """What was found for the question less than a minute ago, on the same day."""
        known = self._by_question.get(asked)
        if (
            known is None
            or not timedelta() <= now - known[0] < _FOR
            or now.date() != known[0].date()
        ):
            return None
        return known[1]

    def keep(self, asked: Asked, now: datetime, found: Recall) -> None:
        """One more answer, in the place of the oldest where there are too many."""
        with self._lock:
            self._by_question[asked] = now, found
            self._by_question.move_to_end(asked)
            if len(self._by_question) > _MOST:
                self._by_question.popitem(last=False)
