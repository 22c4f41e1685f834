"""A bot in a workspace, against DingTalk on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, Settings
from pipimem.bots.dingtalk.bot import BotOptions, DingTalkBot
from pipimem.bots.dingtalk.frames import Credentials
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.turns import Turn
from pipimem.settings import DingTalkSettings, MaintenanceSettings
from pipimem.store.workspace import WorkspaceStore

from tests.servers.dingtalk import CLIENT_ID, CLIENT_SECRET, FakeDingTalk, fake_dingtalk

Running = Callable[..., AbstractAsyncContextManager[Pipimem]]
GROUP = "cidGroup=="


@pytest.fixture
def anyio_backend() -> str:
    """aiohttp runs on asyncio alone."""
    return "asyncio"


@pytest.fixture
async def dingtalk() -> AsyncIterator[FakeDingTalk]:
    """DingTalk."""
    async with fake_dingtalk() as fake:
        yield fake


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    WorkspaceStore.init(tmp_path / "bot")
    return tmp_path / "bot"


@dataclass
class ScriptedReplies:
    """Answers `re: …`, after `wait` says so; `asked` has what it was given."""

    wait: Callable[[str], Any] | None = None
    asked: list[tuple[Turn, list[Message]]] = field(default_factory=list)
    error: Exception | None = None

    async def reply(self, turn: Turn, context: Any, channel: Channel) -> str:
        """The answer."""
        self.asked.append((turn, list(context)))
        if self.wait is not None:
            await self.wait(turn.query)
        if self.error is not None:
            raise self.error
        return f"re: {turn.query}"


@pytest.fixture
def running(workspace: Path, dingtalk: FakeDingTalk) -> Running:
    """`async with running(...)`: the bot, connected; it is stopped at the end."""

    @asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[Pipimem]:
        replies = options.pop("replies", None)
        credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
        dingtalk_settings = DingTalkSettings(
            options.pop("admins", ()), options.pop("confirmed_by", "member")
        )
        settings = Settings(
            maintenance=MaintenanceSettings(enabled=False), dingtalk=dingtalk_settings
        )
        async with Pipimem(workspace, "offline", settings=settings) as pipimem:
            bot = DingTalkBot(
                pipimem,
                credentials,
                BotOptions(**{"grace": 5.0, **options}),
                replies=replies,
                pause=lambda failures: 0.01 * failures,
            )
            stop = asyncio.Event()
            task = asyncio.create_task(bot.run(stop))
            await dingtalk.connected(dingtalk.connections + 1)
            try:
                yield pipimem
            finally:
                stop.set()
                await task

    return run


async def said_in(pipimem: Pipimem, channel: str = GROUP) -> list[tuple[str, str, str]]:
    """The transcript of a channel: role, speaker, content."""
    opened = await pipimem.channel(channel, create=False)
    messages = upkeep_of(opened).store.transcript.messages()  # type: ignore[attr-defined]
    return [(one.role, one.speaker, one.content) for one in messages]
