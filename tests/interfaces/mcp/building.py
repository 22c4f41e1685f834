"""A server over memory, with its client; and a server in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from pipimem import Channel, Pipimem
from pipimem.mcp.server import MemoryServer

from tests.runtime.building import settings

ROOT = Path(__file__).parents[3]
# Ids as platforms have them.
CHANNEL = "cid6KeBBLoveM/AZ=="
MODERN, OLDER = "auto", "legacy"


@dataclass
class Served:
    """A server, one channel of it, and a client that is connected to it."""

    memory: MemoryServer
    channel: Channel
    client: Client

    @property
    def folder(self) -> Path:
        """Where the channel's files lie."""
        return self.memory.pipimem.store.folder_of(self.channel.id)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a call of a tool answers, that went well."""
        if self.memory.tools.only is None:
            arguments["channel"] = self.channel.id
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        value: dict[str, Any] = result.structured_content
        return value

    async def read(self, uri: str) -> str:
        """The text of a resource."""
        (content,) = (await self.client.read_resource(uri)).contents
        return str(content.text)  # type: ignore[union-attr]


@asynccontextmanager
async def served(
    root: Path,
    *,
    only: str | None = None,
    mode: str = MODERN,
    language: str = "en",
    message_handler: Any = None,
) -> AsyncIterator[Served]:
    """A server over memory, and a client of one of the two protocol eras."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel(only or CHANNEL, kind="group")
        memory = MemoryServer(pipimem, only=only, language=language)  # type: ignore[arg-type]
        async with Client(
            memory.server(),
            mode=mode,  # type: ignore[arg-type]
            message_handler=message_handler,
        ) as client:
            yield Served(memory, channel, client)


def command(root: Path, *arguments: str) -> list[str]:
    """The command line of a server on a workspace."""
    words = [sys.executable, "-m", "pipimem", "--workspace", str(root), "--model", "offline"]
    return [*words, "mcp", *arguments]


def environment(**more: str) -> dict[str, str]:
    """What a process of ours needs to find this checkout."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def over_stdio(root: Path, *arguments: str) -> StdioServerParameters:
    """How the SDK's client starts a server."""
    program, *words = command(root, *arguments)
    return StdioServerParameters(command=program, args=words, env=environment())
