"""The channel of a conversation, opened; a disk that refuses is asked again."""

from __future__ import annotations

import asyncio
import logging

from pipimem.bots.dingtalk.bot_context import BotContext
from pipimem.bots.dingtalk.incoming import Incoming
from pipimem.errors import StoreError
from pipimem.runtime.channel import Channel, upkeep_of

# Where the disk refuses, a channel is opened again after so many seconds.
_TRY_AGAIN = (0.5, 1.0, 2.0, 4.0, 8.0)

_log = logging.getLogger("pipimem.dingtalk")


async def channel_of(shared: BotContext, name: str, message: Incoming) -> Channel:
    """Opens a channel by its id, and makes it where it is new, as a message names it.

    Raises `StoreError` or `OSError` where the disk refuses for 15 s.
    """
    for pause in _TRY_AGAIN:
        try:
            return await _opened(shared, name, message)
        except (StoreError, OSError) as error:
            _log.error("the channel cannot be opened yet: %s", error)
        await asyncio.sleep(pause)
    return await _opened(shared, name, message)


async def _opened(shared: BotContext, name: str, message: Incoming) -> Channel:
    # Others must not wait while this one pauses.
    async with shared.storing:
        channel = await shared.pipimem.channel(name, kind=message.kind, title=message.title)
    upkeep_of(channel).turn_recall.in_threads = True  # others are owed an answer within 20 ms
    return channel
