"""The lock of a channel: in one event loop at a time, and an error where it would hang."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from pipimem import Message, Pipimem
from pipimem.errors import WorkspaceError
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.threads import ChannelLock, finish_in_thread, run_alone, run_in_thread

from tests.runtime.building import settings, workspace

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]


async def _take(lock: ChannelLock) -> None:
    async with lock:
        pass


async def _elsewhere(backend: str, work: Callable[..., Awaitable[None]], *given: object) -> None:
    """Does something in another event loop, in a thread of its own."""
    await to_thread.run_sync(partial(anyio.run, work, *given, backend=backend))


async def test_one_task_after_the_other_has_it() -> None:
    """In the order in which they asked."""
    lock, order = ChannelLock(), []

    async def work(number: int) -> None:
        async with lock:
            await anyio.sleep(0)
            order.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(work, number)
            await anyio.wait_all_tasks_blocked()
    assert order == [0, 1, 2, 3, 4]


async def test_another_event_loop_is_refused_while_it_is_in_use(anyio_backend_name: str) -> None:
    """Afterwards it may have it, and be waited for by nobody."""
    lock = ChannelLock()
    async with lock:
        with pytest.raises(WorkspaceError, match="another event loop"):
            await _elsewhere(anyio_backend_name, _take, lock)
    await _elsewhere(anyio_backend_name, _take, lock)
    with anyio.fail_after(60):
        await _take(lock)


async def test_who_was_cancelled_while_waiting_does_not_keep_it(anyio_backend_name: str) -> None:
    """Neither from its own event loop nor from another."""
    lock = ChannelLock()
    async with lock, anyio.create_task_group() as tasks:
        tasks.start_soon(_take, lock)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    await _elsewhere(anyio_backend_name, _take, lock)


async def test_a_turn_in_a_second_event_loop_ends_no_turn_of_the_first(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    """Both waited for ever; now the second is told where the channel belongs."""
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel("room")

        async def turn(name: str) -> None:
            begun = await channel.before_turn(name)
            await channel.after_turn(begun, [Message.user(name, id=name)])

        with anyio.fail_after(60):
            async with channel._access.lock:  # as while a turn of this loop is stored
                with pytest.raises(WorkspaceError, match="another event loop"):
                    await _elsewhere(anyio_backend_name, turn, "elsewhere")
            await turn("here")
        said = upkeep_of(channel).store.transcript.messages()
        assert [message.content for message in said] == ["here"]


async def _alone(lock: ChannelLock) -> list[int]:
    async with lock:
        threads = [await run_in_thread(threading.get_ident)]
        threads.append(await finish_in_thread(threading.get_ident))
    return threads


async def test_what_runs_alone_stays_in_its_thread() -> None:
    """Also beside an event loop, whose own work goes to threads as before."""
    here = threading.get_ident()
    assert run_alone(_alone(ChannelLock())) == [here, here]
    assert here not in await _alone(ChannelLock())


async def test_what_runs_alone_may_fail_and_must_not_wait() -> None:
    """An error is that of the work; whatever waits says that it needs an event loop."""

    async def fails() -> None:
        raise WorkspaceError("no workspace")

    with pytest.raises(WorkspaceError, match="no workspace"):
        run_alone(fails())
    with pytest.raises(RuntimeError, match="needs an event loop"):
        run_alone(_Waiting().wait())


class _Waiting:
    """Something that ends with an event of a loop."""

    async def wait(self) -> None:
        await self

    def __await__(self) -> Iterator[None]:
        yield


async def test_a_channel_in_use_is_not_taken_alone() -> None:
    """Nor by a loop while somebody works on it alone."""
    lock = ChannelLock()
    async with lock:
        with pytest.raises(WorkspaceError, match="another event loop"):
            run_alone(_take(lock))  # type: ignore[arg-type]
    run_alone(_take(lock))  # type: ignore[arg-type]
    await _take(lock)
