"""The database's door: short waits, no address told, one process a connection."""

from __future__ import annotations

import os

import pytest
from benchmarks.fleet.postgres import Server
from pipimem.errors import DatabaseUnavailable
from pipimem.settings import FleetSettings, Settings
from pipimem.store.fleet.database import FleetDatabase

SECRET = "s3cret-pass"


def test_a_dead_database_is_asked_once_and_not_again_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second answer comes at once, and neither says the password."""
    database = FleetDatabase(f"postgresql://bot:{SECRET}@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailable, match="does not answer") as told:
        database.rows("select 1")
    monkeypatch.setattr("psycopg.connect", lambda *_, **__: pytest.fail("it was asked again"))
    with pytest.raises(DatabaseUnavailable):
        database.rows("select 1")
    settings = Settings(fleet=FleetSettings(database.address))
    assert SECRET not in f"{told.value} {told.value.__cause__} {database!r} {settings!r}"


def test_a_database_that_was_started_anew_is_asked_again(
    server: Server, database: FleetDatabase
) -> None:
    """A connection of before the restart is no reason to give up."""
    assert database.rows("select 1") == [(1,)]
    server.stop()
    server.start()
    assert database.rows("select 2") == [(2,)]


def test_without_tables_it_says_what_makes_them(server: Server) -> None:
    """The first start is often without."""
    server.sql("drop schema if exists pipimem cascade")
    with pytest.raises(DatabaseUnavailable, match="pipimem fleet init"):
        FleetDatabase(server.address).rows("select * from pipimem.channel")


def test_a_child_has_connections_of_its_own(database: FleetDatabase) -> None:
    """What it asks and closes leaves the parent's as they were."""
    [(mine,)] = database.rows("select pg_backend_pid()")
    child = os.fork()
    if child == 0:
        [(other,)] = database.rows("select pg_backend_pid()")
        os._exit(other == mine)
    assert os.waitpid(child, 0)[1] == 0
    assert database.rows("select pg_backend_pid()") == [(mine,)]
