"""Runs the MCP server of a workspace over a transport, until its client or a signal ends it."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskStatus

from pipimem.mcp.http import http_app, serve_http
from pipimem.mcp.stdio import stdio_streams
from pipimem.mcp.token import Token

if TYPE_CHECKING:
    from pipimem.mcp.server import MemoryServer

_STOP = (signal.SIGTERM, signal.SIGINT)


async def serve_stdio(memory: MemoryServer) -> None:
    """Serve one client over standard input and output, until it closes the input."""
    async with _stopped_by_signal() as stopped, stdio_streams(stopped) as (received, sent):
        server = memory.server()
        await server.run(received, sent, server.create_initialization_options())


async def serve_on(
    memory: MemoryServer, listening: socket.socket, token: Token, hosts: Sequence[str]
) -> None:
    """Serve clients over HTTP that name one of `hosts` and show the token, until a signal."""
    async with _stopped_by_signal() as stopped:
        await serve_http(memory, listening, http_app(memory, token, hosts), stopped)


@asynccontextmanager
async def _stopped_by_signal() -> AsyncIterator[anyio.Event]:
    """An event that is set by SIGTERM or Ctrl-C."""
    stopped = anyio.Event()
    async with anyio.create_task_group() as tasks:
        await tasks.start(_set_by_signal, stopped)
        yield stopped
        tasks.cancel_scope.cancel()


async def _set_by_signal(stopped: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(*_STOP) as signals:
        task_status.started()
        async for _ in signals:
            stopped.set()
