"""What a checker must refuse: without `py.typed` everything would be `Any`, and nothing wrong."""

from __future__ import annotations

from pipimem import Channel, Pipimem


async def main(channel: Channel) -> int:
    turn = await channel.before_turn(5)
    Pipimem()
    return turn.context
