"""What the model of a conversation is shown of it: the messages since the last compaction."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipimem.notes.message import Message

# About 8,000 tokens of Chinese: beyond it the context is made durable and dropped.
_MOST_CHARS = 12_000
# What is taken back comes within minutes.
_MOST_TAKEN_BACK = 100


@dataclass(slots=True)
class ModelContext:
    """Messages in the order they were said, each with whether it is stored."""

    _shown: list[tuple[Message, bool]] = field(default_factory=list, repr=False)
    _taken_back: deque[str] = field(
        default_factory=lambda: deque(maxlen=_MOST_TAKEN_BACK), repr=False
    )

    @property
    def messages(self) -> list[Message]:
        """All messages."""
        return [message for message, _ in self._shown]

    @property
    def stored(self) -> list[Message]:
        """Those that are not off the record."""
        return [message for message, is_stored in self._shown if is_stored]

    @property
    def is_full(self) -> bool:
        """Whether it is so long that it is to be made durable, and dropped."""
        return sum(len(message.content) for message in self.messages) >= _MOST_CHARS

    def add(self, said: Iterable[Message], *, is_stored: bool) -> None:
        """Show messages from now on, but for those that were taken back meanwhile."""
        self._shown += [(each, is_stored) for each in said if each.id not in self._taken_back]

    def take_back(self, name: str) -> None:
        """Show the message of an id no more, also where it is added later."""
        self._taken_back.append(name)
        self._shown = [pair for pair in self._shown if pair[0].id != name]

    def clear(self) -> None:
        """Drop all messages."""
        self._shown.clear()
