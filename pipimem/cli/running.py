"""The runtime and its event loop, for commands that ask models or stay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio

from pipimem.cli.options import Chosen
from pipimem.clock import Clock
from pipimem.logs import OperationLog, log_as_json, wants_json
from pipimem.observer import Observer
from pipimem.runtime.channel import Channel
from pipimem.runtime.pipimem import Pipimem
from pipimem.runtime.transfer.learning import learnt
from pipimem.settings import ObservabilitySettings, Settings

T = TypeVar("T")


@asynccontextmanager
async def opened_runtime(
    chosen: Chosen, *, settings: Settings | None = None, clock: Clock | None = None
) -> AsyncIterator[Pipimem]:
    """The runtime on a workspace, closed at the end."""
    settings = settings or chosen.settings()
    observers = log_observers(settings.observability)
    async with Pipimem(chosen.workspace, chosen.model, settings=settings, clock=clock) as pipimem:
        for observer in observers:
            pipimem.add_observer(observer)
        yield pipimem


def log_observers(settings: ObservabilitySettings) -> list[Observer]:
    """Have log lines written as settings and PIPIMEM_LOG say; who logs each operation then.

    Raises `SettingsError` for a format that there is not.
    """
    if not wants_json(settings.logs):
        return []
    log_as_json()
    return [OperationLog(channel_ids=settings.channel_ids)]


def with_channel(chosen: Chosen, name: str, work: Callable[[Channel], Awaitable[T]]) -> T:
    """Return what `work` returns for a channel of the runtime.

    Raises `ChannelError` for an unknown one.
    """

    async def done() -> T:
        async with opened_runtime(chosen) as pipimem:
            return await work(await pipimem.channel(name, create=False))

    return run(done)


def learn_from_import(
    chosen: Chosen, number: int, names: Sequence[str], learnt_from: Callable[[int], None]
) -> list[str]:
    """Consolidate the talk that an import brought; returns why some of it is not.

    `learnt_from` is told how many of the channels are done.
    """
    runtime = partial(opened_runtime, chosen)
    return run(lambda: learnt(runtime, chosen.store(), number, names, learnt_from))


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a command's work on an event loop, and return what it returns.

    An error that arrives alone in a group is raised as itself.
    """
    try:
        return anyio.run(work)
    except BaseExceptionGroup as group:
        error = _only(group)
        raise error from error.__cause__


def _only(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
