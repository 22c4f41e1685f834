"""One conversation's memory: a process of `pipimem mcp --channel ID`, asked through MCP."""

from __future__ import annotations

import asyncio
import shlex
from collections import OrderedDict
from urllib.parse import quote

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class MemoryProcess:
    """Started with its first question; it sees its own channel, and makes one where none is."""

    def __init__(self, command: str, workspace: str, channel: str) -> None:
        program, *arguments = shlex.split(command)
        arguments += ["--workspace", workspace, "mcp", "--channel", channel]
        self._server = StdioServerParameters(command=program, args=arguments)
        self._channel = quote(channel, safe="-._~")
        self._session: asyncio.Future[ClientSession] | None = None
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the process was there and is gone."""
        return self._task is not None and self._task.done()

    async def call(self, tool: str, **arguments: object) -> str:
        """The answer of a tool as JSON; what is wrong with the call stands in it."""
        result = await (await self._open()).call_tool(tool, dict(arguments))
        return "\n".join(part.text for part in result.content if part.type == "text")

    async def read(self, name: str) -> str:
        """The text of a resource: `session`, `memory/constraint` …"""
        found = await (await self._open()).read_resource(f"pipimem://{self._channel}/{name}")
        return "\n".join(content.text for content in found.contents)

    async def close(self) -> None:
        """Ends the process."""
        self._stopping.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _open(self) -> ClientSession:
        if self._session is None:
            self._session = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._session))
        return await asyncio.shield(self._session)

    async def _run(self, session: asyncio.Future[ClientSession]) -> None:
        """A session is opened and closed in one task, as the library wants it."""
        try:
            async with stdio_client(self._server) as streams, ClientSession(*streams) as client:
                await client.initialize()
                session.set_result(client)
                await self._stopping.wait()
        except Exception as error:
            if session.done():
                raise
            session.set_exception(error)


class MemoryProcesses:
    """The processes of the conversations that spoke last, at most `most`."""

    def __init__(self, command: str, workspace: str, most: int) -> None:
        self._given, self._most = (command, workspace), most
        self._by_channel: OrderedDict[str, MemoryProcess] = OrderedDict()

    async def of(self, channel: str) -> MemoryProcess:
        """The process of a channel; one that has ended is replaced, the oldest makes room."""
        known = self._by_channel.pop(channel, None)
        if known is None or known.has_ended:
            known = MemoryProcess(*self._given, channel)
        self._by_channel[channel] = known
        while len(self._by_channel) > self._most:
            _, oldest = self._by_channel.popitem(last=False)
            await oldest.close()
        return known

    async def close(self) -> None:
        """Ends all of them."""
        while self._by_channel:
            _, process = self._by_channel.popitem()
            await process.close()
