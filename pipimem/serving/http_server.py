"""Runs an application on a socket until it is to stop, and ends what streams are open then."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import uvicorn

from pipimem.serving.open_streams import OpenStreams

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
