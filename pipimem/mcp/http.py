"""Streamable HTTP as the transport of many clients, each of which must show the token."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pipimem.mcp.token import Token

if TYPE_CHECKING:
    from pipimem.mcp.server import MemoryServer

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# Streams that are open at the end are cut after so many seconds.
_GRACE = 2
_HTTP_PORT = 80
_BACKLOG = 100


def loopback_hosts(port: int) -> list[str]:
    """The Host headers of clients on this machine."""
    return host_headers(_LOOPBACK, port)


def host_headers(names: Sequence[str], port: int) -> list[str]:
    """The Host headers that clients send for some names and a port."""
    hosts = [f"{name}:{port}" for name in names]
    return [*hosts, *names] if port == _HTTP_PORT else hosts


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises `OSError` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off for sockets that say TCP alone; with it each answer would
    # wait 40 ms for the client's acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """Lets requests pass that name a host of ours, come from no foreign page, and show the token.

    Others get 421, 403 and 401. A page that has its name resolved to this machine sends its own
    name as Host, whatever else it may read or guess.
    """

    app: ASGIApp
    token: Token
    hosts: Sequence[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self._refused(Headers(scope=scope))
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refused(self, headers: Headers) -> Response | None:
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            return PlainTextResponse("This server does not answer to that host.", 421)
        origins = {f"http://{host}" for host in self.hosts}
        if not origins.issuperset(headers.getlist("origin")):
            return PlainTextResponse("Pages of other origins may not use this server.", 403)
        shown = headers.getlist("authorization")
        if len(shown) != 1 or not self.token.matches(shown[0].encode("latin-1")):
            return PlainTextResponse(
                "Show the token: Authorization: Bearer …",
                401,
                headers={"WWW-Authenticate": 'Bearer realm="pipimem"'},
            )
        return None


@dataclass(slots=True)
class OpenStreams:
    """Ends the streams of older clients, which stay open as long as these live.

    uvicorn would cancel them when it stops, and log a traceback for each.
    """

    app: ASGIApp
    _scopes: set[anyio.CancelScope] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        with anyio.CancelScope() as stream:
            self._scopes.add(stream)
            try:
                await self.app(scope, receive, send)
            finally:
                self._scopes.discard(stream)
        if stream.cancelled_caught:
            await send({"type": "http.response.body", "body": b""})

    def close(self) -> None:
        """End them all."""
        for stream in self._scopes:
            stream.cancel()


def http_app(memory: MemoryServer, token: Token, hosts: Sequence[str]) -> OpenStreams:
    """The application: MCP under `/mcp`, for requests that the guard lets pass."""
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = memory.server().streamable_http_app(
        streamable_http_path=PATH, json_response=True, transport_security=security
    )
    return OpenStreams(RequestGuard(app, token, hosts))


async def serve_http(
    memory: MemoryServer, listening: socket.socket, app: OpenStreams, stopped: anyio.Event
) -> None:
    """Answer requests on a socket until `stopped`; then open streams are ended."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        lifespan="on",
    )
    server = _Server(config)
    async with anyio.create_task_group() as tasks:

        async def end_when_stopped() -> None:
            await stopped.wait()
            server.should_exit = True
            memory.close()
            app.close()

        tasks.start_soon(end_when_stopped)
        await server.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


class _Server(uvicorn.Server):
    """uvicorn without its own handling of signals, which raises them again at the end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
