"""One conversation's memory: a process of `pipimem mcp --channel ID`, asked through MCP."""

from __future__ import annotations

import asyncio
import shlex
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import quote

from anyio import BrokenResourceError, ClosedResourceError
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import McpError
from mcp.types import CONNECTION_CLOSED

A = TypeVar("A")


class MemoryProcess:
    """Started with its first question, and anew where it ended; it sees its own channel alone.

    The channel is made where there is none.
    """

    def __init__(self, command: str, workspace: str, channel: str) -> None:
        program, *arguments = shlex.split(command)
        arguments += ["--workspace", workspace, "mcp", "--channel", channel]
        self._server = StdioServerParameters(command=program, args=arguments)
        self._channel = quote(channel, safe="-._~")
        self._session: asyncio.Future[ClientSession] | None = None
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # Questions under way.
        self._asked = 0

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._asked > 0

    async def call(self, tool: str, **arguments: object) -> str:
        """The answer of a tool as JSON; what is wrong with the call stands in it."""
        result = await self._answer(lambda session: session.call_tool(tool, dict(arguments)))
        return "\n".join(part.text for part in result.content if part.type == "text")

    async def read(self, name: str) -> str:
        """The text of a resource: `session`, `memory/constraint` …"""
        uri = f"pipimem://{self._channel}/{name}"
        found = await self._answer(lambda session: session.read_resource(uri))
        return "\n".join(content.text for content in found.contents)

    async def close(self) -> None:
        """Ends the process; it is started anew with the next question."""
        task, self._session, self._task = self._task, None, None
        self._stopping.set()
        self._stopping = asyncio.Event()
        if task is not None:
            await asyncio.wait([task])

    async def _answer(self, ask: Callable[[ClientSession], Awaitable[A]]) -> A:
        """What a process answers; where it has ended since it was last asked, another one."""
        self._asked += 1
        try:
            session = self._open()
            try:
                return await ask(await asyncio.shield(session))
            except (BrokenResourceError, ClosedResourceError, McpError) as error:
                if isinstance(error, McpError) and error.error.code != CONNECTION_CLOSED:
                    raise
                # What it did before it ended does no harm if it is done once more.
                if self._session is session:  # nobody has started another one meanwhile
                    await self.close()
            return await ask(await asyncio.shield(self._open()))
        finally:
            self._asked -= 1

    def _open(self) -> asyncio.Future[ClientSession]:
        if self._session is None or (self._task is not None and self._task.done()):
            self._session = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._session, self._stopping))
        return self._session

    async def _run(self, session: asyncio.Future[ClientSession], stopping: asyncio.Event) -> None:
        """A session is opened and closed in one task, as the library wants it."""
        try:
            async with stdio_client(self._server) as streams, ClientSession(*streams) as client:
                await client.initialize()
                session.set_result(client)
                await stopping.wait()
        except Exception as error:
            if session.done():
                raise
            session.set_exception(error)


class MemoryProcesses:
    """The processes of the conversations that spoke last, at most `most`."""

    def __init__(self, command: str, workspace: str, most: int) -> None:
        self._given, self._most = (command, workspace), most
        self._by_channel: OrderedDict[str, MemoryProcess] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    def of(self, channel: str) -> MemoryProcess:
        """The process of a channel; the one that was silent longest makes room, not one at work.

        Whoever asks it at once keeps it: nothing here waits.
        """
        known = self._by_channel.pop(channel, None) or MemoryProcess(*self._given, channel)
        silent = [name for name, one in self._by_channel.items() if not one.is_busy]
        self._by_channel[channel] = known
        for name in silent[: max(0, len(self._by_channel) - self._most)]:
            task = asyncio.create_task(self._by_channel.pop(name).close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        return known

    async def close(self) -> None:
        """Ends all of them."""
        processes = [*self._by_channel.values()]
        self._by_channel.clear()
        await asyncio.gather(*(one.close() for one in processes), *self._ending)
