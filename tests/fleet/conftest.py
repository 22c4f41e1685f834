"""Tests of several hosts need a PostgreSQL server, and its client.

`tests/fleet/run.sh` builds an environment that has the client, and runs these tests in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.fleet.postgres import Server, running
from pipimem.settings import FleetSettings
from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import FleetDatabase
from pipimem.store.workspace import WorkspaceStore
from pipimem.store.workspace_state import WORKSPACE

collect_ignore_glob = [] if os.environ.get("PIPIMEM_TEST_FLEET") else ["*"]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server for all tests."""
    with running() as server:
        yield server


@pytest.fixture
def database(server: Server) -> Iterator[FleetDatabase]:
    """Its database, with empty tables."""
    server.sql("drop schema if exists pipimem, pipimem_rows, pipimem_views cascade")
    server.sql("drop schema public cascade; create schema public")
    database = FleetDatabase(server.address)
    database.create(SCHEMA, WORKSPACE)
    yield database
    database.close()


@pytest.fixture
def settings(database: FleetDatabase) -> FleetSettings:
    """The settings of each host."""
    return FleetSettings(database.address, lease_seconds=1.0)


@pytest.fixture
def root(tmp_path: Path, settings: FleetSettings) -> Path:
    """A workspace that says which database it is in."""
    root = tmp_path / "bot"
    WorkspaceStore.init(root)
    text = f'[fleet]\ndatabase = "{settings.database}"\nlease_seconds = 1\n'
    (root / "pipimem.toml").write_text(text)
    return root
