"""How much was said since SESSION.md was refreshed, counted as it is said: a gate reads no transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.memory.window import counted
from pipimem.notes.message import Message


@dataclass(slots=True)
class Tally:
    """The turns and tool messages after message `after`, up to message `upto`."""

    after: int = -1
    upto: int = -1
    turns: int = 0
    tools: int = 0

    def add(self, messages: Sequence[Message]) -> None:
        """Count the messages that follow on; others, such as another process wrote, are left for a reading."""
        if messages and messages[0].number == self.upto + 1:
            turns, tools = counted(messages)
            self.turns, self.tools = self.turns + turns, self.tools + tools
            self.upto = messages[-1].number
