"""A bot as somebody else writes it: strict checkers find nothing to say against it."""

from __future__ import annotations

from typing import Any, assert_type

from pipimem import Channel, Message, Pipimem, Receipt, SearchHit, Settings, Turn
from pipimem.errors import PipimemError


async def answered(channel: Channel, asked: str) -> str:
    turn = await channel.before_turn(asked, speaker="Alice")
    assert_type(turn, Turn)
    assert_type(turn.context, str)
    reply = f"{turn.context}: {asked}"
    said = [Message.user(asked, speaker="Alice"), Message.assistant(reply)]
    assert_type(said, list[Message])
    await channel.after_turn(turn, said)
    return reply


async def main() -> Receipt:
    async with Pipimem("workspace", model="offline") as pipimem:
        channel = await pipimem.channel("room", kind="group", title="release room")
        assert_type(channel, Channel)
        assert_type(pipimem.settings, Settings)
        try:
            await answered(channel, "When is the release?")
        except PipimemError as error:
            assert_type(error.args, tuple[Any, ...])
        found = await channel.talk.search("release")
        assert_type(found, tuple[SearchHit, ...])
        assert_type(channel.tools("openai"), list[dict[str, Any]])
        receipt = await channel.before_compaction(deadline=20)
        if receipt.may_compact:
            await channel.compacted(receipt)
        return receipt
