"""Runs an application on a socket until it is to stop, and ends what streams are open then."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import anyio
import uvicorn
from anyio.abc import TaskStatus
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STOP = (signal.SIGTERM, signal.SIGINT)


@asynccontextmanager
async def stopped_by_signal() -> AsyncIterator[anyio.Event]:
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


def foreign_source(headers: Headers, hosts: Sequence[str]) -> Response | None:
    """The refusal of a request that names another host (421) or comes from a page of one (403).

    A page that has its name resolved to this machine sends its own name as Host, whatever else it
    may read or guess.
    """
    if headers.getlist("host") not in [[host] for host in hosts]:
        return PlainTextResponse("This server does not answer to that host.", 421)
    origins = {f"http://{host}" for host in hosts}
    if not origins.issuperset(headers.getlist("origin")):
        return PlainTextResponse("Pages of other origins may not use this server.", 403)
    return None


# What is not ended by then is cut, after so many seconds.
_GRACE = 2
# A little before that it is ended with an answer.
_CALLS_GRACE = 1.5


async def serve_http(
    app: OpenStreams,
    listening: socket.socket,
    stopped: anyio.Event,
    *,
    close: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests on a socket until `stopped`; then `close` is called and streams are ended."""
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
            close()
            app.close()
            await anyio.sleep(_CALLS_GRACE)
            app.close_all()

        tasks.start_soon(end_when_stopped)
        await server.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


class _Server(uvicorn.Server):
    """uvicorn without its own handling of signals, which raises them again at the end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
