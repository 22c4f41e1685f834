"""Drives a server as a client of the SDK 1.x does; prints what it saw as one JSON object.

Run by the Python of an environment that has `mcp<2`. Arguments: `stdio FOLDER COMMAND …`, or `http
FOLDER URL TOKEN`; FOLDER is that of the channel.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamablehttp_client

_SECONDS = 30


class _Client:
    def __init__(self) -> None:
        self.updated: list[str] = []
        self.more = anyio.Event()

    async def heard(self, message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            match message.root:
                case types.ResourceUpdatedNotification(params=params):
                    self.updated.append(str(params.uri))
                    self.more.set()

    async def drive(self, session: ClientSession, folder: Path) -> dict[str, Any]:
        seen: dict[str, Any] = {"sdk": version("mcp")}
        greeting = await session.initialize()
        seen["protocol"] = greeting.protocolVersion
        seen["subscribe"] = greeting.capabilities.resources.subscribe
        seen["tools"] = {
            tool.name: [bool(tool.outputSchema), tool.annotations.readOnlyHint]
            for tool in (await session.list_tools()).tools
        }
        saved = await session.call_tool("memory_save", {"text": "we never deploy on Fridays"})
        seen["saved"] = saved.structuredContent
        seen["error"] = (await session.call_tool("memory_save", {"text": 7})).isError
        listed = (await session.list_resources()).resources
        seen["uris"] = [str(found.uri) for found in listed]
        uri = [found.uri for found in listed if str(found.uri).endswith("/memory")][-1]
        seen["memory"] = await self.text(session, uri)
        await session.subscribe_resource(uri)
        path = folder / "MEMORY.md"
        path.write_text(path.read_text() + "\n## Facts\n\n- typed by hand\n")
        with anyio.fail_after(_SECONDS):
            while not self.updated:
                await self.more.wait()
        seen["updated"] = self.updated
        seen["after"] = await self.text(session, uri)
        await session.unsubscribe_resource(uri)
        prompt = await session.get_prompt("when_to_search", {"language": "zh"})
        seen["prompt"] = prompt.messages[0].content.text
        return seen

    async def text(self, session: ClientSession, uri: Any) -> str:
        return (await session.read_resource(uri)).contents[0].text


async def main(transport: str, folder: str, *words: str) -> None:
    client = _Client()
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            program, *arguments = words
            # The default leaves out where this checkout is.
            environment = {
                **get_default_environment(),
                "PYTHONPATH": str(Path(__file__).parents[3]),
            }
            parameters = StdioServerParameters(command=program, args=arguments, env=environment)
            streams = await stack.enter_async_context(stdio_client(parameters))
        else:
            url, token = words
            headers = {"Authorization": f"Bearer {token}"}
            connected = streamablehttp_client(url, headers=headers)
            streams = (await stack.enter_async_context(connected))[:2]
        session = await stack.enter_async_context(
            ClientSession(*streams, message_handler=client.heard)
        )
        seen = await client.drive(session, Path(folder))
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
