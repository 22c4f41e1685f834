"""Answers that stay open as long as a client listens, ended with the server."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(slots=True)
class OpenStreams:
    """Ends what is still being answered to a GET.

    uvicorn would cancel it when it stops, and log a traceback for each.
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
