"""The transcript page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pipimem import ArgumentError, Message, Pipimem

from tests.runtime.building import settings, workspace

pytestmark = pytest.mark.anyio


async def test_pages_meet_and_end(tmp_path: Path) -> None:
    """From the newest to the first, each message once, in the order it was said."""
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        assert (await channel.talk.page()).messages == ()
        await channel.talk.append([Message.user(f"message {n}", id=f"m{n}") for n in range(25)])
        ids: list[str] = []
        upto, pages = None, 0
        while True:
            page = await channel.talk.page(upto, count=10)
            ids = [message.id for message in page.messages] + ids
            pages += 1
            if page.earlier is None:
                break
            upto = page.earlier
        assert (ids, pages) == ([f"m{n}" for n in range(25)], 3)
        assert (await channel.talk.page(5, count=10)).later == 15
        with pytest.raises(ArgumentError):
            await channel.talk.page(count=0)


@pytest.mark.slow
async def test_some_messages_alone(tmp_path: Path) -> None:
    """By who said them, in which role and when; each page goes on where the one before ended."""
    first = datetime(2026, 3, 2, 9, tzinfo=UTC)
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        said = [
            Message.user(
                f"message {n}",
                id=f"m{n}",
                speaker="Dana" if n % 100 == 0 else "Bob",
                time=first + timedelta(hours=n),
            )
            for n in range(1_200)
        ]
        await channel.talk.append([*said, Message.assistant("done", id="bot")])
        newest = await channel.talk.page(count=7, speaker="dana")
        assert [one.id for one in newest.messages] == [f"m{n}00" for n in range(5, 12)]
        assert newest.earlier == 500
        older = await channel.talk.page(newest.earlier, count=7, speaker="dana")
        assert [one.id for one in older.messages] == ["m0", "m100", "m200", "m300", "m400"]
        assert (older.earlier, older.later) == (None, None)
        (answer,) = (await channel.talk.page(role="assistant")).messages
        assert answer.id == "bot"
        hours = await channel.talk.page(
            after=first + timedelta(hours=3), before=first + timedelta(hours=5)
        )
        assert [one.id for one in hours.messages] == ["m3", "m4"]
        assert (await channel.talk.page(speaker="nobody")).messages == ()


async def test_a_page_of_some_messages_ends_before_all_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a transcript in which they are rare; the next page goes on there."""
    monkeypatch.setattr("pipimem.runtime.talk._READ_AT_ONCE", 5)
    monkeypatch.setattr("pipimem.runtime.talk._MOST_READ", 10)
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.talk.append([Message.user("first", id="m0", speaker="Dana")])
        await channel.talk.append([Message.user(f"{n}", id=f"m{n}") for n in range(1, 15)])
        page = await channel.talk.page(speaker="Dana")
        assert (page.messages, page.earlier) == ((), 5)
        (found,) = (await channel.talk.page(page.earlier, speaker="Dana")).messages
        assert found.id == "m0"


async def test_what_is_private_or_secret_in_the_log_is_not_shown(tmp_path: Path) -> None:
    """However it came there."""
    root = workspace(tmp_path)
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.talk.append([Message.user("hello", speaker="Dana")])
        log = root / "channels/room/log.jsonl"
        log.write_text(log.read_text().replace("hello", "ghp_" + "a1B2" * 9))
        (message,) = (await channel.talk.page()).messages
        assert "a1B2" not in message.content
