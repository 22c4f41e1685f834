"""Answers that stay open as long as a client listens, and bodies that never end."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class OpenStreams:
    """Ends what is still being answered when the server stops: to a GET at once, the rest later.

    uvicorn would cancel it, and log a traceback for each.
    """

    app: ASGIApp
    # Each request with whether it is a GET.
    _scopes: dict[anyio.CancelScope, bool] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def sent(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        with anyio.CancelScope() as request:
            self._scopes[request] = scope["method"] == "GET"
            try:
                await self.app(scope, receive, sent)
            finally:
                del self._scopes[request]
        if request.cancelled_caught and has_begun:
            await send({"type": "http.response.body", "body": b""})
        elif request.cancelled_caught:
            await PlainTextResponse("The server has stopped.", 503)(scope, receive, send)

    def close(self) -> None:
        """End what is answered to a GET."""
        for request, is_stream in self._scopes.items():
            if is_stream:
                request.cancel()

    def close_all(self) -> None:
        """End all that is open."""
        for request in self._scopes:
            request.cancel()
