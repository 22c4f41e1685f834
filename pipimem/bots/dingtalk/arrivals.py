"""What the platform delivered to a conversation, on its way to the disk and to an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from pipimem.bots.dingtalk.incoming import Incoming, TakenBackMessage
from pipimem.bots.dingtalk.open_question import Confirmation


@dataclass(frozen=True, slots=True)
class Arrived:
    """What the platform delivered; `stored` is done when it is on the disk, or will not be."""

    what: Incoming | TakenBackMessage
    stored: asyncio.Future[bool]

    def end(self, *, is_stored: bool) -> None:
        """Say what became of it."""
        if not self.stored.done():
            self.stored.set_result(is_stored)


@dataclass(frozen=True, slots=True)
class Received:
    """A message on its way through a conversation; without `record` nothing of it is stored."""

    message: Incoming
    arrived: Arrived
    command: str = ""
    record: bool = True
    # What the bot asked and this message answers.
    answers: Confirmation | None = None


def end_all(received: Iterable[Received], *, is_stored: bool = True) -> None:
    """Say of messages what became of them; what was said first stands."""
    for one in received:
        one.arrived.end(is_stored=is_stored)
