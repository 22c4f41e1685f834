"""One message of a conversation, as hosts hand it in and the transcript keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from pipimem.errors import ArgumentError, require_type

# The years that times may be of: `datetime` ends at 1 and 9999, and a few days more or less
# must not step over.
YEARS = range(100, 9900)
Role = Literal["user", "assistant", "tool", "system"]
_ROLES = get_args(Role)
# The fields that are texts, with what to give in the place of what hosts have.
_TEXTS = {
    "content": "Join the texts of its parts; a message without words has an empty one.",
    "id": "Write a number as a str; an empty one is given an id.",
    "speaker": "Without a name it is empty.",
    "session": "Without a label it is empty.",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a user, an assistant or a tool.

    `number` is its place in the channel's transcript (from 1), 0 before it stands there. `id` is
    the platform's id; left empty, the transcript gives one. `time` has an offset; left `None`, the
    runtime puts its clock's time. `speaker` is the name of who spoke, `session` a label of the
    host's own.

    Its `repr` leaves the content out: logs are read by others. Raises `ArgumentError` for a field
    of another type.
    """

    role: Role
    content: str = field(repr=False)
    id: str = ""
    time: datetime | None = None
    speaker: str = ""
    session: str = ""
    number: int = 0
    # Of one that was emptied: the mark of what it said, as `said_mark` makes it.
    emptied: str = field(default="", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        for name, hint in _TEXTS.items():
            if not isinstance(getattr(self, name), str):
                require_type(getattr(self, name), str, f"Message.{name}", hint)
        require_type(self.time, (datetime, type(None)), "Message.time")
        if self.role not in _ROLES:
            raise ArgumentError(
                f"Message.role must be one of {', '.join(_ROLES)}, not {self.role!r}."
            )

    @classmethod
    def user(
        cls,
        content: str,
        *,
        id: str = "",
        time: datetime | None = None,
        speaker: str = "",
    ) -> Message:
        """What a person said."""
        return cls("user", content, id, time, speaker)

    @classmethod
    def assistant(
        cls,
        content: str,
        *,
        id: str = "",
        time: datetime | None = None,
        speaker: str = "",
    ) -> Message:
        """What the bot answered."""
        return cls("assistant", content, id, time, speaker)

    @classmethod
    def tool(
        cls,
        content: str,
        *,
        id: str = "",
        time: datetime | None = None,
        speaker: str = "",
    ) -> Message:
        """What a tool printed; `speaker` is the tool's name."""
        return cls("tool", content, id, time, speaker)


def checked_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages that a host handed in. Raises `ArgumentError` for what is no messages."""
    require_type(messages, Iterable, "messages", "Give a list of Message.")
    found = tuple(messages)
    for message in found:
        require_type(
            message, Message, "each of messages", "Make it by Message.user(…), .assistant(…), …."
        )
    return found


def newest_time(messages: Iterable[Message]) -> datetime | None:
    """When the newest of some messages was said; `None` where no time of them is known."""
    return max((message.time for message in messages if message.time), default=None)
