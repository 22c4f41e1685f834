"""How much one import may bring: a source of gigabytes ends within 300 MB, taken in or refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.found import Found, FoundDay, FoundEntry, FoundMessage
from pipimem.store.transcript.log import KnownIds

# A message takes 30 bytes until it is written, a conversation 300, a channel 13 KB, an entry or a
# line of a day 4 KB.
_MOST_MESSAGES, _MOST_CONVERSATIONS, _MOST_CHANNELS = 6_000_000, 100_000, 10_000
MOST_NOTES = 30_000
# Characters of entries and lines: nobody reads a MEMORY.md of so many.
_MOST_TEXT = 8_000_000


@dataclass(slots=True)
class ImportLimits:
    """Counts what is found. Raises `ArchiveError` for what is no memory of people."""

    _messages: int = 0
    _notes: int = 0
    _text: int = 0
    _channels: set[str] = field(default_factory=set)
    _conversations: KnownIds = field(default_factory=KnownIds)

    def count(self, one: Found) -> None:
        """Counts one thing that was found."""
        match one:
            case FoundMessage(channel=channel):
                self._count_message(channel, one.message.session)
            case FoundEntry(text=text, channel=channel):
                self._count_notes(channel, 1, len(text))
            case FoundDay(lines=lines, channel=channel):
                self._count_notes(channel, len(lines), sum(map(len, lines)))

    def _count_message(self, channel: str, conversation: str) -> None:
        self._count_channel(channel)
        self._messages += 1
        if self._messages > _MOST_MESSAGES:
            _refuse(_MOST_MESSAGES, "messages")
        is_new = bool(conversation) and self._conversations.add(f"{channel}\0{conversation}")
        if is_new and len(self._conversations) > _MOST_CONVERSATIONS:
            _refuse(_MOST_CONVERSATIONS, "conversations")

    def _count_notes(self, channel: str, count: int, length: int) -> None:
        self._count_channel(channel)
        self._notes += count
        self._text += length
        if self._notes > MOST_NOTES:
            _refuse(MOST_NOTES, "entries and lines of days")
        if self._text > _MOST_TEXT:
            _refuse(_MOST_TEXT, "characters in entries and days")

    def _count_channel(self, channel: str) -> None:
        self._channels.add(channel)
        if len(self._channels) > _MOST_CHANNELS:
            _refuse(_MOST_CHANNELS, "channels")


def _refuse(most: int, what: str) -> NoReturn:
    raise ArchiveError(
        f"this has more than {most:,} {what}, more than one import takes; nothing was taken in. "
        "Split it, and import the parts one after the other."
    )
