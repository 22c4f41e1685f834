"""The tables and the least rights: what an administrator runs, and a bot's role may do."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.faults.journeys import NOW, adding, opened
from benchmarks.fleet.postgres import Server
from click.testing import CliRunner
from pipimem import Message
from pipimem.cli.commands import pipimem as command
from pipimem.errors import DatabaseUnavailable
from pipimem.runtime.fleet.overview import fleet_overview, tables_sql
from pipimem.state.postgres import FleetDatabase
from pipimem.store.workspace import WorkspaceStore


@pytest.fixture
def role(server: Server) -> str:
    """The address of a role with the least rights, in a database that an administrator prepared."""
    server.sql("drop schema if exists pipimem, pipimem_rows, pipimem_views cascade")
    server.sql(
        "drop schema public cascade; create schema public; grant usage on schema public to public"
    )
    server.sql("drop role if exists some_bot; create role some_bot login")
    server.sql(tables_sql("some_bot"))
    return server.address.replace("user=postgres", "user=some_bot")


def in_fleet(root: Path, address: str) -> None:
    """A workspace that names the database."""
    WorkspaceStore.init(root)
    (root / "pipimem.toml").write_text(f'[fleet]\ndatabase = "{address}"\nlease_seconds = 1\n')


def test_the_least_rights_are_enough(tmp_path: Path, role: str) -> None:
    """Locks, notes, forgetting, usage, and due times."""
    root = tmp_path / "bot"
    in_fleet(root, role)
    store = opened(root)
    store.commit(adding("the least is enough"), NOW)
    store.forget("least", keep_transcript=False, now=NOW)
    assert store.workspace.usage_store.held() == {}
    fleet = store.workspace.fleet
    assert fleet is not None
    fleet.visits.set("team", -1)
    assert fleet.visits.claim(1) == ["team"]
    assert fleet_overview(fleet).due == 0


def test_they_allow_nothing_else(server: Server, role: str) -> None:
    """No table may be made, and none emptied at once."""
    database = FleetDatabase(role)
    for statement in ("create table pipimem.more (n int)", "truncate pipimem.lease"):
        with pytest.raises(Exception, match="InsufficientPrivilege"):
            database.rows(statement)


def test_init_makes_the_tables_and_can_be_repeated(root: Path, server: Server) -> None:
    """`status` and `doctor` say how the fleet stands then."""
    server.sql("drop schema if exists pipimem, pipimem_rows, pipimem_views cascade")
    runner, named = CliRunner(), ["--workspace", str(root)]
    missing = runner.invoke(command, [*named, "doctor"])
    assert "Run `pipimem fleet init`" in missing.output
    for _ in range(2):
        made = runner.invoke(command, [*named, "fleet", "init"])
        assert made.exit_code == 0, made.output
    opened(root).commit(adding("one"), NOW)
    stands = runner.invoke(command, [*named, "status"])
    assert "0 channels are due, 0 for 5 minutes or longer" in stands.output
    assert ": 0 leases, last lease until" in stands.output


def test_the_transcript_is_not_in_the_database(root: Path, server: Server) -> None:
    """A dump has the notes, but not the transcript."""
    store = opened(root)
    store.append([Message.user("the zebra sleeps in the cellar")])
    store.commit(adding("the kiln is fired on Mondays"), NOW)
    dump = server.dump()
    assert b"kiln".hex() in dump
    assert "zebra" not in dump
    assert b"zebra".hex() not in dump


def test_the_tables_of_an_older_version_are_replaced(root: Path, server: Server) -> None:
    """`fleet init` makes those of this version; until then a host says so."""
    server.sql("drop schema if exists pipimem, pipimem_rows, pipimem_views cascade")
    server.sql("create schema pipimem; create table pipimem.channel (id text primary key)")
    with pytest.raises(DatabaseUnavailable, match="Run `pipimem fleet init`"):
        opened(root).commit(adding("one"), NOW)
    made = CliRunner().invoke(command, ["--workspace", str(root), "fleet", "init"])
    assert made.exit_code == 0, made.output
    opened(root).commit(adding("one"), NOW)
    assert server.sql("select to_regclass('pipimem.channel') is null") == "t\n"


def test_leaving_puts_the_state_beside_the_notes(root: Path, server: Server) -> None:
    """For one host; what was changed can be undone there."""
    opened(root).commit(adding("one"), NOW)
    done = CliRunner().invoke(command, ["--workspace", str(root), "fleet", "leave"])
    assert "the state of 1 channels lies in the workspace" in done.output
    (root / "pipimem.toml").write_text("")
    assert [change.sequence for change in opened(root).changes()] == [1]
