"""What the bot asked in a conversation, and which message answers it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from pipimem.bots.dingtalk.bot_context import BotContext
from pipimem.bots.dingtalk.command_text import command_in
from pipimem.bots.dingtalk.incoming import Incoming


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the bot asked a person to confirm, and what they said to it in their next message.

    `what` is a text to forget, or empty for going on the record again. With `by_another` somebody
    else is to agree, before `ends`, in seconds of the clock's monotonic scale.
    """

    what: str
    sender: str
    by_another: bool = False
    ends: float = inf
    is_agreed: bool = False


@dataclass(slots=True)
class OpenQuestion:
    """The newest question of one conversation; an older one is over."""

    shared: BotContext
    asked: Confirmation | None = None

    def is_put_to(self, sender: str) -> bool:
        """Whether the next message of a person may answer it."""
        return self.asked is not None and self.asked.sender == sender

    def answered_by(self, message: Incoming) -> Confirmation | None:
        """The question with its answer, if this message says yes or no to it."""
        asked = self._in_time()
        if asked is None or not message.addressed:
            return None
        if asked.by_another and command_in(message.text) == "/confirm":
            return self._confirmed_by(message, asked)
        # Two whom the platform does not name are not one person.
        if not asked.sender or message.sender != asked.sender:
            return None
        says = self.shared.wording.says(message.text)
        if asked.by_another and says is not False:
            return None
        self.asked = None
        return replace(asked, is_agreed=says) if says is not None else None

    def _in_time(self) -> Confirmation | None:
        """The question, unless it is over."""
        if self.asked and self.shared.pipimem.clock.monotonic() > self.asked.ends:
            self.asked = None
        return self.asked

    def _confirmed_by(self, message: Incoming, asked: Confirmation) -> Confirmation | None:
        permissions = self.shared.permissions
        if not permissions.may_confirm(message.sender, message.ids, asked.sender):
            return None
        self.asked = None
        return replace(asked, is_agreed=True)
