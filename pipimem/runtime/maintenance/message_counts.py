"""The turns and tool messages since a channel's last refresh, counted as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.memory.window import counted
from pipimem.notes.message import Message
from pipimem.store.transcript.log import Transcript


@dataclass(slots=True)
class MessageCounts:
    """The turns and tool messages after message `after`, up to message `upto`."""

    after: int = -1
    upto: int = -1
    turns: int = 0
    tools: int = 0

    def add(self, messages: Sequence[Message]) -> None:
        """Count messages that follow on `upto`; others are left for a reading."""
        if messages and messages[0].number == self.upto + 1:
            turns, tools = counted(messages)
            self.turns, self.tools = self.turns + turns, self.tools + tools
            self.upto = messages[-1].number

    def between(self, after: int, upto: int) -> tuple[int, int]:
        """Turns and tool messages after one number up to another; if unknown, an upper bound."""
        if (self.after, self.upto) == (after, upto):
            return self.turns, self.tools
        return upto - after, upto - after

    def read(self, transcript: Transcript, after: int, upto: int) -> None:
        """Count what is not counted yet between two numbers; reads the rest once."""
        if self.after != after:
            self.after = self.upto = after
            self.turns = self.tools = 0
        if self.upto < upto:
            self.add(list(transcript.window(self.upto, upto)))
