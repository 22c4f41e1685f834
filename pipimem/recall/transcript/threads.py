"""Which message a message goes on from: in the room, or between one person and the bot."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

# The number of the room's own thread.
ROOM = -1
# Where a chain of messages ends.
END = -1
# After an hour of silence people begin anew.
PAUSE_SECONDS = 3600


@dataclass(slots=True)
class Threads:
    """For each message its thread, by the number of a person, and its neighbours there.

    `times` are in seconds since 1970, 0 for one that is not known; `speakers` are -1 for the bot;
    `last` is the newest message of each thread.

    The bot's answer and what it answers are that person's thread, however many others are talked to
    between them. People who talk to each other share the room's.
    """

    of: array[int] = field(default_factory=lambda: array("i"))
    before: array[int] = field(default_factory=lambda: array("i"))
    after: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("q"))
    speakers: array[int] = field(default_factory=lambda: array("i"))
    last: dict[int, int] = field(default_factory=dict)

    def add(self, speaker: int, time: int, *, by_bot: bool) -> None:
        """Adds a message at `time` (seconds, 0 if unknown); what tools print is by the bot too."""
        slot = len(self.of)
        if by_bot and slot and self.of[-1] == ROOM and self.speakers[-1] >= 0:
            self._move(slot - 1)
        self.speakers.append(-1 if by_bot else speaker)
        self.times.append(time)
        self.of.append(ROOM)
        self.before.append(END)
        self.after.append(END)
        self._link(slot, self.of[slot - 1] if by_bot and slot else ROOM)

    def _move(self, slot: int) -> None:
        """Moves a message, and what its speaker said just before, into their own thread."""
        speaker, first = self.speakers[slot], slot
        while first and self.of[first - 1] == ROOM and self.speakers[first - 1] == speaker:
            first -= 1
        for moved in range(first, slot + 1):
            if self.before[moved] != END:
                self.after[self.before[moved]] = END
        rest = self.before[first]
        if rest == END:
            self.last.pop(ROOM, None)
        else:
            self.last[ROOM] = rest
        for moved in range(first, slot + 1):
            self.before[moved] = self.after[moved] = END
            self._link(moved, speaker)

    def _link(self, slot: int, thread: int) -> None:
        self.of[slot] = thread
        before = self.last.get(thread, END)
        if before != END and self._near(before, slot):
            self.before[slot], self.after[before] = before, slot
        self.last[thread] = slot

    def _near(self, one: int, other: int) -> bool:
        first, second = self.times[one], self.times[other]
        return not first or not second or abs(second - first) <= PAUSE_SECONDS
