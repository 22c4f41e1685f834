"""The signals that end a server."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus

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
