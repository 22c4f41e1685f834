"""The tables of a fleet: ours and Procrastinate's, and the least rights of who uses them."""

from __future__ import annotations

from anyio import to_thread

from pipimem.errors import SettingsError
from pipimem.resources import fleet_rights, fleet_schema
from pipimem.store.fleet.database import Database

_MISSING = "The tables of [fleet] need Procrastinate: pip install 'pipimem[fleet]'"


async def make_tables(database: Database) -> None:
    """Makes the tables that are missing. Raises `StoreError`, `SettingsError` without `[fleet]`."""
    try:
        from pipimem.runtime.fleet.job_queue import JobQueue
    except ImportError as error:
        raise SettingsError(_MISSING) from error
    await to_thread.run_sync(database.create)
    await JobQueue.create(database.address)


def tables_sql(role: str) -> str:
    """What an administrator runs once: all tables, then the rights of a role.

    Raises `SettingsError` without `pipimem[fleet]`.
    """
    try:
        from pipimem.runtime.fleet.job_queue import schema
    except ImportError as error:
        raise SettingsError(_MISSING) from error
    return "\n".join((fleet_schema(), schema(), fleet_rights().replace("pipimem_bot", role)))
