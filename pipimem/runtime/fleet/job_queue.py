"""Idle jobs as tasks of Procrastinate: one a channel and kind, one at a time a channel.

This is the one place that imports Procrastinate, which runs on asyncio alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.schema import SchemaManager

from pipimem.errors import StoreError
from pipimem.resources import fleet_rights
from pipimem.runtime.fleet.overview import queue_name
from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import FleetDatabase
from pipimem.state.postgres import make_tables as statements
from pipimem.store.workspace_state import WORKSPACE

_TASK = "pipimem.idle_job"
# A worker tells that it lives every 10 s; one that was silent for so many seconds is gone.
_HEARTBEAT_SECONDS = 10.0
STALLED_AFTER = 30.0
# What a worker that was asked to stop lets its jobs take; then they are cancelled, which loses
# nothing: a decision is committed whole or not at all.
_GRACEFUL_SECONDS = 20.0
# Jobs are announced; whoever missed that looks so often.
_POLL_SECONDS = 5.0

# The order in which the jobs of one channel run, where several are open.
_PRIORITIES = {
    "consolidate": 60,
    "refresh": 50,
    "history": 40,
    "expire": 30,
    "tidy": 20,
    "fold": 10,
}

RunJob = Callable[[str, str], Awaitable[None]]


@dataclass(slots=True, eq=False)
class JobQueue:
    """The queue of a workspace, under its name in the database.

    Methods raise `StoreError` where the database cannot be reached.
    """

    app: App
    workspace: str

    @classmethod
    def of(cls, conninfo: str, workspace: str, run: RunJob) -> JobQueue:
        """The queue at libpq's `conninfo`.

        `run` does the job of a folder and kind, and must bear being called twice for one job.
        """
        app = App(connector=PsycopgConnector(conninfo=conninfo))

        async def idle_job(folder: str, kind: str) -> None:
            await run(folder, kind)

        app.task(name=_TASK, queue=queue_name(workspace))(idle_job)
        return cls(app, workspace)

    @classmethod
    async def create(cls, conninfo: str) -> None:
        """Makes Procrastinate's tables, where they are missing."""
        app = App(connector=PsycopgConnector(conninfo=conninfo))
        try:
            async with app.open_async():
                if not await app.check_connection_async():
                    await app.schema_manager.apply_schema_async()
        except ConnectorException as error:
            raise _unreachable(error) from error

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Connected while this lasts; a cancellation comes before or behind the connecting.

        In the middle of it the pool's tasks would be left, which end for no cancellation.
        """
        with anyio.CancelScope(shield=True):
            await self.app.open_async()
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.app.close_async()

    async def defer(self, folder: str, kinds: Iterable[str]) -> int:
        """Puts jobs of a channel into the queue; how many were not there already."""
        added = 0
        for kind in kinds:
            task = self.app.configure_task(
                _TASK,
                lock=f"{self.workspace}/{folder}",
                queueing_lock=f"{self.workspace}/{folder}:{kind}",
                priority=_PRIORITIES.get(kind, 0),
            )
            try:
                await task.defer_async(folder=folder, kind=kind)
            except AlreadyEnqueued:
                continue
            except ConnectorException as error:
                raise _unreachable(error) from error
            added += 1
        return added

    async def rescue(self) -> int:
        """Puts the jobs of workers that are gone back into the queue; how many there were."""
        manager = self.app.job_manager
        try:
            found = await manager.get_stalled_jobs(
                queue=queue_name(self.workspace), seconds_since_heartbeat=STALLED_AFTER
            )
            stalled = list(found)
            for job in stalled:
                await manager.retry_job(job)
        except ConnectorException as error:
            raise _unreachable(error) from error
        return len(stalled)

    async def work(self, concurrency: int) -> None:
        """Does jobs until cancelled; then those under way have 20 s to end."""
        worker = asyncio.create_task(
            self.app.run_worker_async(
                queues=[queue_name(self.workspace)],
                concurrency=concurrency,
                install_signal_handlers=False,
                delete_jobs="always",
                shutdown_graceful_timeout=_GRACEFUL_SECONDS,
                update_heartbeat_interval=_HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_AFTER,
                fetch_job_polling_interval=_POLL_SECONDS,
            )
        )
        try:
            await asyncio.wait({worker})
        finally:
            # One cancellation asks it to stop; anyio's scopes would repeat theirs at each await.
            worker.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({worker})
        if not worker.cancelled():
            worker.result()


def _unreachable(error: Exception) -> StoreError:
    # The message of the driver may hold the address, and with it a password.
    cause = error.__cause__ or error
    return StoreError(f"the database of the fleet did not answer: {type(cause).__name__}")


async def make_tables(database: FleetDatabase) -> None:
    """Makes the tables that are missing. Raises `StoreError`."""
    await to_thread.run_sync(database.create, SCHEMA, WORKSPACE)
    await JobQueue.create(database.address)


def tables_sql(role: str) -> str:
    """What an administrator runs once: all tables, then the rights of a role."""
    ours = [f"{statement};" for statement in statements(SCHEMA, WORKSPACE)]
    rights = fleet_rights().replace("pipimem_bot", role)
    return "\n".join((*ours, str(SchemaManager.get_schema()), rights))
