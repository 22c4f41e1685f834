"""What all conversations of a bot share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipimem.bots.dingtalk.delivery import Delivery
from pipimem.bots.dingtalk.permissions import Permissions
from pipimem.bots.dingtalk.replies import Replies
from pipimem.bots.dingtalk.slots import Slots
from pipimem.bots.dingtalk.state import BotState
from pipimem.bots.dingtalk.wording import Wording

if TYPE_CHECKING:
    from pipimem.bots.dingtalk.review_card import ReviewCards
    from pipimem.runtime.pipimem import Pipimem


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
    storing: Slots
    turns: Slots
    permissions: Permissions
    cards: ReviewCards
    # The id of the review card's template, empty for none.
    review_template: str = ""
