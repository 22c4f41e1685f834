"""Which messages of a transcript count at all: from when to when, by whom, in which role."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.recall.items import Item
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.dates.bounds import aware


@dataclass(frozen=True, slots=True)
class Filters:
    """From `after` on, up to `before`, of a speaker, in a role; None and "" for any."""

    after: datetime | None = None
    before: datetime | None = None
    speaker: str = ""
    role: str = ""

    def admits(self, item: Item) -> bool:
        """Whether an entry counts; one without a time is outside of any span."""
        if self.role or (self.speaker and item.speaker.casefold() != self.speaker.casefold()):
            return False
        return self._spans(item.when)

    def admits_message(self, message: Message) -> bool:
        """Whether a message counts; one without a time is outside of any span."""
        if self.role and message.role != self.role:
            return False
        if self.speaker and message.speaker.casefold() != self.speaker.casefold():
            return False
        return self._spans(message.time)

    def _spans(self, when: datetime | None) -> bool:
        if self.after is None and self.before is None:
            return True
        if when is None:
            return False
        is_late = self.after is None or aware(self.after) <= aware(when)
        return is_late and (self.before is None or aware(when) < aware(self.before))

    def gate(self, index: TranscriptIndex) -> Callable[[int], bool] | None:
        """A function that says whether the message of a slot counts; None if all do.

        A message without a time is outside of any span.
        """
        if self == _ANY:
            return None
        speaker = self.speaker.casefold()
        speakers = _places(speaker, map(str.casefold, index.speakers))
        roles = _places(self.role, index.role_names)
        first = aware(self.after).timestamp() if self.after else -math.inf
        end = aware(self.before).timestamp() if self.before else math.inf
        timed = self.after is not None or self.before is not None
        times, spoken_by, role_of = index.threads.times, index.spoken_by, index.roles

        def passes(slot: int) -> bool:
            if timed and not (times[slot] and first <= times[slot] < end):
                return False
            return (not speaker or spoken_by[slot] in speakers) and (
                not self.role or role_of[slot] in roles
            )

        return passes


def _places(wanted: str, names: Iterable[str]) -> frozenset[int]:
    return frozenset(place for place, name in enumerate(names) if name == wanted)


_ANY = Filters()
