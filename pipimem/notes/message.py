"""One message of a conversation, as hosts hand it in and the transcript keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a user, an assistant or a tool.

    `number` is its place in the channel's transcript (from 1), 0 before it stands there. `id` is
    the platform's id; left empty, the transcript gives one. `time` has an offset; left `None`, the
    runtime puts its clock's time. `speaker` is the name of who spoke, `session` a label of the
    host's own.
    """

    role: Role
    content: str
    id: str = ""
    time: datetime | None = None
    speaker: str = ""
    session: str = ""
    number: int = 0

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
