"""The transcript page by page."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import ArgumentError, Message, Pipimem

from tests.runtime.building import settings, workspace

pytestmark = pytest.mark.anyio


async def test_pages_meet_and_end(tmp_path: Path) -> None:
    """From the newest to the first, each message once, in the order it was said."""
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        assert (await channel.transcript.page()).messages == ()
        await channel.take_in([Message.user(f"message {n}", id=f"m{n}") for n in range(25)])
        ids: list[str] = []
        upto, pages = None, 0
        while True:
            page = await channel.transcript.page(upto, count=10)
            ids = [message.id for message in page.messages] + ids
            pages += 1
            if page.earlier is None:
                break
            upto = page.earlier
        assert (ids, pages) == ([f"m{n}" for n in range(25)], 3)
        assert (await channel.transcript.page(5, count=10)).later == 15
        with pytest.raises(ArgumentError):
            await channel.transcript.page(count=0)


async def test_what_is_private_or_secret_in_the_log_is_not_shown(tmp_path: Path) -> None:
    """However it came there."""
    root = workspace(tmp_path)
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.take_in([Message.user("hello", speaker="Dana")])
        log = root / "channels/room/log.jsonl"
        log.write_text(log.read_text().replace("hello", "ghp_" + "a1B2" * 9))
        (message,) = (await channel.transcript.page()).messages
        assert "a1B2" not in message.content
