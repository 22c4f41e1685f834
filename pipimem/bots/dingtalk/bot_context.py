"""What all conversations of a bot share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipimem.bots.dingtalk.delivery import Delivery
from pipimem.bots.dingtalk.replies import Replies, Wording
from pipimem.bots.dingtalk.state import BotState
from pipimem.settings import DingTalkSettings

if TYPE_CHECKING:
    from pipimem.bots.dingtalk.review_card import ReviewCards
    from pipimem.runtime.pipimem import Pipimem


# Work is put off no longer than this, however many messages come.
_LONGEST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Slots:
    """To be entered for each turn; `is_free` is clear while an acknowledgement waits.

    The storing of a burst, as after a new connection, would share disk and processor with the turns
    of its first messages.
    """

    places: asyncio.Semaphore
    is_free: asyncio.Event

    async def __aenter__(self) -> None:
        """Wait for a place, and then a while for acknowledgements."""
        await self.places.acquire()
        if self.is_free.is_set():
            return
        with ExitStack() as on_failure:
            on_failure.callback(self.places.release)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_SECONDS):
                    await self.is_free.wait()
            on_failure.pop_all()

    async def __aexit__(self, *_: object) -> None:
        """Leave the place to others."""
        self.places.release()


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the settings of a workspace and the names that were heard allow."""

    settings: DingTalkSettings
    state: BotState

    def is_admin(self, ids: Iterable[str]) -> bool:
        """Whether one of a person's ids is an admin's."""
        return not set(self.settings.admins).isdisjoint(ids)

    def may_alone(self, kind: str, sender: str, ids: Iterable[str], names: Set[str]) -> bool:
        """Whether a person needs nobody else to change what rests on the words of some names."""
        if kind == "dm" or self.settings.confirmed_by == "self" or self.is_admin(ids):
            return True
        return bool(names) and all(self.state.is_name_of(name, sender) for name in names)

    def may_record_again(self, kind: str, channel: str, sender: str, ids: Iterable[str]) -> bool:
        """Whether a person may end that a conversation is off the record: who began it may."""
        put_by = self.state.private.get(channel, "")
        is_theirs = bool(put_by) and put_by == self.state.mark(sender)
        return is_theirs or self.may_alone(kind, sender, ids, frozenset())

    def may_confirm(self, sender: str, ids: Iterable[str], asked_by: str) -> bool:
        """Whether a person may agree to what another one asked for."""
        if self.is_admin(ids):
            return True
        is_another = bool(sender) and bool(asked_by) and sender != asked_by
        return is_another and self.settings.confirmed_by == "member"


@dataclass(frozen=True, slots=True)
class BotContext:
    """Of one bot, for each of its conversations.

    `spawn` runs work beside; `storing` bounds how many conversations store what arrived at a time,
    `turns` how many turns read and write, so that threads leave the event loop its share.
    """

    pipimem: Pipimem
    replies: Replies
    delivery: Delivery
    wording: Wording
    state: BotState
    spawn: Callable[[Coroutine[object, object, None]], None]
    storing: asyncio.Semaphore
    turns: Slots
    permissions: Permissions
    cards: ReviewCards
    # The id of the review card's template, empty for none.
    review_template: str = ""
