"""Streamable HTTP as the transport of many clients, each of which must show the token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pipimem.mcp.repaired_bodies import RepairedBodies
from pipimem.serving.open_streams import OpenStreams
from pipimem.serving.request_source import foreign_source
from pipimem.serving.token import Token

if TYPE_CHECKING:
    from pipimem.mcp.server import MemoryServer

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
