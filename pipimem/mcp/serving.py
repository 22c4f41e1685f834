"""Runs the MCP server of a workspace over a transport, until its client or a signal ends it."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipimem.mcp.stdio import stdio_streams
from pipimem.serving.access import Token
from pipimem.serving.http_server import OpenStreams, foreign_source, serve_http, stopped_by_signal
from pipimem.text.characters import storable_json

if TYPE_CHECKING:
    from pipimem.mcp.server import MemoryServer


# As the SDK's bound, which answers a longer one with 413.
_LONGEST_BODY = 4 << 20
# A client on this machine sends 4 MiB in milliseconds; whoever takes longer holds memory for none.
_LONGEST_SECONDS = 30.0
_TOO_SLOW = PlainTextResponse(
    "The request took too long to arrive.", 408, headers={"Connection": "close"}
)
# Half of a pair, or a whole one, as JSON may write it.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class RepairedBodies:
    """Hands bodies on with U+FFFD for each half of a character: models cut emoji in half."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        message = None
        with anyio.move_on_after(_LONGEST_SECONDS):
            message = await _whole(receive)
        if message is None:
            await _TOO_SLOW(scope, receive, send)
            return
        messages = [message]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)


async def _whole(receive: Receive) -> Message:
    """A request's body as one message; of one that is too long no more than shows that it is."""
    held, message = bytearray(), await receive()
    while message["type"] == "http.request":
        held += message.get("body", b"")
        if not message.get("more_body") or len(held) > _LONGEST_BODY:
            return {**message, "body": _repaired(bytes(held))}
        message = await receive()
    return message


def _repaired(body: bytes) -> bytes:
    """A body of JSON in which halves of characters are replaced; any other one as it is."""
    if _SURROGATE.search(body) is None:
        return body
    try:
        return storable_json(body).encode()
    except (ValueError, RecursionError):
        return body


PATH = "/mcp"
VARIABLE = "PIPIMEM_MCP_TOKEN"


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """Lets requests pass that name a host of ours, come from no foreign page, and show the token.

    Others get 421, 403 and 401.
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
        refused = foreign_source(headers, self.hosts)
        if refused is not None:
            return refused
        shown = headers.getlist("authorization")
        if len(shown) != 1 or not self.token.matches(shown[0].encode("latin-1")):
            return PlainTextResponse(
                "Show the token: Authorization: Bearer …",
                401,
                headers={"WWW-Authenticate": 'Bearer realm="pipimem"'},
            )
        return None


def http_app(memory: MemoryServer, token: Token, hosts: Sequence[str]) -> OpenStreams:
    """The application: MCP under `/mcp`, for requests that the guard lets pass."""
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = memory.server().streamable_http_app(
        streamable_http_path=PATH, json_response=True, transport_security=security
    )
    return OpenStreams(RequestGuard(RepairedBodies(app), token, hosts))


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
