"""Work that runs beside a host in a task of its own, on asyncio and on trio."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Self

import anyio
import anyio.lowlevel
from anyio.lowlevel import EventLoopToken, current_token

from pipimem.errors import WorkspaceError

_log = logging.getLogger("pipimem")


@dataclass(slots=True, eq=False)
class Lifetime:
    """A task that no task group of the host holds: what fails in it ends nothing of the host's.

    It may be ended in another task than the one that started it.
    """

    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _ended: anyio.Event = field(default_factory=anyio.Event)
    # The event loop of the task: a wait in another one would never be woken.
    _loop: EventLoopToken = field(default_factory=current_token)
    # asyncio keeps no task alive that nobody holds.
    _task: object = None
    _running: Coroutine[None, None, None] | None = None

    @classmethod
    async def started(cls, work: Callable[[], Awaitable[None]]) -> Self:
        """Begins `work`, which goes on until `end`; an exception that ends it is logged."""
        lifetime = cls()

        async def run() -> None:
            try:
                with lifetime._scope:
                    await anyio.lowlevel.checkpoint()  # ended at once, it never begins
                    await work()
            except Exception as error:  # noqa: BLE001 - trio ends the host with such a task
                # Without its words: they may quote a message.
                place = "".join(traceback.format_tb(error.__traceback__)).rstrip()
                _log.error("the work beside the host ended: %s\n%s", type(error).__name__, place)
            finally:
                lifetime._ended.set()

        import asyncio  # 20 ms, and loaded by now unless the loop is trio's

        running = lifetime._running = run()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            import outcome
            import trio.lowlevel

            # What is raised before the first line of `run` would end the host.
            lifetime._task = trio.lowlevel.spawn_system_task(outcome.acapture, lambda: running)
        else:
            lifetime._task = loop.create_task(running)
        return lifetime

    @property
    def has_ended(self) -> bool:
        """Whether the work is over."""
        # A task that was cancelled before its first line sets nothing.
        is_closed = inspect.CORO_CLOSED
        return self._ended.is_set() or (
            self._running is not None and inspect.getcoroutinestate(self._running) == is_closed
        )

    async def end(self) -> None:
        """Cancels the work and waits until it has ended; where it has, it does nothing.

        Raises `WorkspaceError` in another event loop than that of the work.
        """
        if self.has_ended:
            if not self._ended.is_set():
                _log.warning("the work beside the host never began")
            return
        if current_token() != self._loop:
            raise WorkspaceError(
                "aclose() was called in another event loop than start(), which may be running in "
                "another thread. Call it in the loop of start()."
            )
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()
