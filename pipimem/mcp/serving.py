"""Runs the MCP server of a workspace over a transport, until its client or a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipimem.mcp.http import http_app
from pipimem.mcp.stdio import stdio_streams
from pipimem.serving.http_server import serve_http
from pipimem.serving.stop_signals import stopped_by_signal
from pipimem.serving.token import Token

if TYPE_CHECKING:
    from pipimem.mcp.server import MemoryServer


async def serve_stdio(memory: MemoryServer) -> None:
    """Serve one client over standard input and output, until it closes the input."""
    async with stopped_by_signal() as stopped, stdio_streams(stopped) as (received, sent):
        server = memory.server()
        await server.run(received, sent, server.create_initialization_options())


async def serve_on(
    memory: MemoryServer, listening: socket.socket, token: Token, hosts: Sequence[str]
) -> None:
    """Serve clients over HTTP that name one of `hosts` and show the token, until a signal."""
    async with stopped_by_signal() as stopped:
        app = http_app(memory, token, hosts)
        await serve_http(app, listening, stopped, close=memory.close)
