"""The door to worker threads: blocking work beside an event loop, and the lock of a channel.

anyio is loaded with the first call: a command that only reads files takes 40 ms less. What such a
command calls it runs alone, without an event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from pipimem.errors import WorkspaceError

if TYPE_CHECKING:
    import anyio
    from anyio.lowlevel import EventLoopToken

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

# Whether `run_alone` is running: there is no event loop, and no other task to wait for.
_is_alone: ContextVar[bool] = ContextVar("is_alone", default=False)


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, run to its end in this thread without an event loop.

    Work for threads is done here and now. Raises `RuntimeError` where it waits for anything else.
    """
    token = _is_alone.set(True)
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        _is_alone.reset(token)
        work.close()
    raise RuntimeError(f"{work} waits for something: it needs an event loop.")


async def run_in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Return what `work` returns, called in a worker thread."""
    if _is_alone.get():
        return work(*arguments)
    from anyio import to_thread

    return await to_thread.run_sync(work, *arguments)


async def finish_in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Return what `work` returns; a cancellation waits for it.

    A commit that has begun is not cancelled half way.
    """
    if _is_alone.get():
        return work(*arguments)
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
        if _is_alone.get():
            self._enter(None)
            return
        from anyio import Lock
        from anyio.lowlevel import current_token

        self._enter(current_token())
        lock = self._lock = self._lock or Lock()
        try:
            await lock.acquire()
        except BaseException:
            self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        if not _is_alone.get():
            assert self._lock is not None
            self._lock.release()
        self._leave()

    def _enter(self, loop: EventLoopToken | None) -> None:
        """Count whoever takes it. Raises `WorkspaceError` where it is in use in another loop."""
        with self._mutex:
            if self._count and (loop is None or self._loop != loop):
                raise WorkspaceError(
                    "This channel is in use in another event loop, which may be running in another "
                    "thread. Use it in the loop of Pipimem.start(), or open a Pipimem for each."
                )
            self._loop = loop
            self._count += 1

    def _leave(self) -> None:
        with self._mutex:
            self._count -= 1
