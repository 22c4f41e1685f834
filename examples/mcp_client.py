"""An MCP client of a memory: it starts `pipimem mcp`, saves something, looks for it, reads a file.

    pip install 'pipimem[mcp]'
    python examples/mcp_client.py WORKSPACE

The workspace is made where there is none. No model and no key.
"""

from __future__ import annotations

import subprocess
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client


async def main(workspace: str) -> None:
    """Everything a client does, in its order."""
    pipimem = [sys.executable, "-m", "pipimem", "--workspace", workspace, "--model", "offline"]
    subprocess.run([*pipimem, "init"], check=True, stdout=sys.stderr)  # noqa: S603 - our own
    server = StdioServerParameters(
        command=pipimem[0],
        args=[*pipimem[1:], "mcp", "--channel", "me"],
        env=get_default_environment(),
    )
    async with Client(stdio_client(server)) as client:
        for tool in (await client.list_tools()).tools:
            hints = tool.annotations
            print(tool.name, "(reads only)" if hints and hints.read_only_hint else "")
        note = {"text": "We never deploy on Fridays", "kind": "constraint"}
        await client.call_tool("memory_save", note)
        found = await client.call_tool("memory_search", {"query": "when may we deploy?"})
        print(found.structured_content["hits"][0]["text"])
        (memory,) = (await client.read_resource("pipimem://me/memory")).contents
        print(memory.text)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
