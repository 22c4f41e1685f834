"""The lock that orders the writers of a channel within one event loop."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from pipimem.errors import WorkspaceError


@dataclass(slots=True, eq=False)
class ChannelLock:
    """A lock between tasks, used by one event loop at a time.

    Who waited in another one would never be woken, and keep those of the first waiting, too: there
    it raises `WorkspaceError`. When nobody holds the lock or waits for it any loop may take it.
    """

    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    # Whose the lock is, and how many hold it or wait for it.
    _loop: EventLoopToken | None = None
    _count: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    async def __aenter__(self) -> None:
        loop = current_token()
        with self._mutex:
            if self._count and self._loop != loop:
                raise WorkspaceError(
                    "This channel is in use in another event loop, which may be running in another "
                    "thread. Use it in the loop of Pipimem.start(), or open a Pipimem for each."
                )
            self._loop = loop
            self._count += 1
        with ExitStack() as on_failure:
            on_failure.callback(self._leave)
            await self._lock.acquire()
            on_failure.pop_all()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()
        self._leave()

    def _leave(self) -> None:
        with self._mutex:
            self._count -= 1
