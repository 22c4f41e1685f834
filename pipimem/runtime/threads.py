"""The door to worker threads: blocking work beside an event loop, and the lock of a channel.

anyio is loaded with the first call: a command that only reads files takes 40 ms less.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from pipimem.errors import WorkspaceError

if TYPE_CHECKING:
    import anyio
    from anyio.lowlevel import EventLoopToken

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def run_in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Return what `work` returns, called in a worker thread."""
    from anyio import to_thread

    return await to_thread.run_sync(work, *arguments)


async def finish_in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Return what `work` returns; a cancellation waits for it.

    A commit that has begun is not cancelled half way.
    """
    from anyio import CancelScope, to_thread

    with CancelScope(shield=True):
        done = await to_thread.run_sync(work, *arguments)
    return done  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow


@dataclass(slots=True, eq=False)
class ChannelLock:
    """A lock between tasks, used by one event loop at a time.

    Who waited in another one would never be woken, and keep those of the first waiting, too: there
    it raises `WorkspaceError`. When nobody holds the lock or waits for it any loop may take it.
    """

    _lock: anyio.Lock | None = None
    # Whose the lock is, and how many hold it or wait for it.
    _loop: EventLoopToken | None = None
    _count: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    async def __aenter__(self) -> None:
        from anyio import Lock
        from anyio.lowlevel import current_token

        loop = current_token()
        with self._mutex:
            if self._count and self._loop != loop:
                raise WorkspaceError(
                    "This channel is in use in another event loop, which may be running in another "
                    "thread. Use it in the loop of Pipimem.start(), or open a Pipimem for each."
                )
            lock = self._lock = self._lock or Lock()
            self._loop = loop
            self._count += 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        assert self._lock is not None
        self._lock.release()
        self._leave()

    def _leave(self) -> None:
        with self._mutex:
            self._count -= 1
