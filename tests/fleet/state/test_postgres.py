"""The database of a fleet: short waits, no address told, and the rows of one channel at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.faults.journeys import NOW, adding, opened
from benchmarks.fleet.postgres import Server
from pipimem.errors import DatabaseUnavailable, LockLost, LockTimeout
from pipimem.notes.message import Message
from pipimem.settings import FleetSettings, Settings
from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import FleetDatabase, HeldFence, PostgresDatabase, tables_of
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

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
    server.sql("drop schema if exists pipimem, pipimem_rows, pipimem_views cascade")
    with pytest.raises(DatabaseUnavailable, match="pipimem fleet init"):
        FleetDatabase(server.address).rows("select * from pipimem.lease")


def test_a_child_has_connections_of_its_own(database: FleetDatabase) -> None:
    """What it asks and closes leaves the parent's as they were."""
    [(mine,)] = database.rows("select pg_backend_pid()")
    child = os.fork()
    if child == 0:
        [(other,)] = database.rows("select pg_backend_pid()")
        os._exit(other == mine)
    assert os.waitpid(child, 0)[1] == 0
    assert database.rows("select pg_backend_pid()") == [(mine,)]


def rows_of(
    database: FleetDatabase, tmp_path: Path, name: str, *, fence: int = 1, owner: bytes = b"owner"
) -> PostgresDatabase:
    """The rows of a channel, whose lock this thread says that it holds."""
    before = SqliteDatabase(tmp_path / name / "state.db", SCHEMA, name)
    held = (HeldFence(name, fence),)
    return PostgresDatabase(database, SCHEMA, name, owner, before, lambda: held)


def hold(database: FleetDatabase, name: str, fence: int = 1) -> None:
    """Write a lease that somebody has."""
    values = {"name": name, "fence": fence}
    database.rows(
        "insert into pipimem.lease (id, fence, holder, until) "
        "values (%(name)s, %(fence)s, 'somebody', 'infinity') "
        "on conflict (id) do update set fence = excluded.fence",
        values,
    )


def test_the_tables_are_those_of_one_host(database: FleetDatabase) -> None:
    """Each column of the SQLite schema is in the view of the same name."""
    for table in tables_of(SCHEMA):
        found = database.rows(
            "select column_name from information_schema.columns "
            "where table_schema = 'pipimem_views' and table_name = %(name)s order by ordinal_position",
            {"name": table.name},
        )
        assert [column for (column,) in found] == [column for column, _ in table.columns]


def test_a_channel_sees_its_own_rows_alone(database: FleetDatabase, tmp_path: Path) -> None:
    """Outside of a transaction there are no rows to see at all."""
    for name in ("one", "two"):
        hold(database, name)
        with rows_of(database, tmp_path, name).writing() as rows:
            rows.run("insert into head (file, etag) values (?, ?)", "MEMORY.md", name)
    for name in ("one", "two"):
        with rows_of(database, tmp_path, name).reading() as rows:
            assert rows is not None
            assert rows.all("select file, etag from head") == [("MEMORY.md", name)]
            assert rows.among("select etag from head where file", ["MEMORY.md"]) == [(name,)]
    assert database.rows("select * from pipimem_views.head") == []


def test_a_holder_whose_fence_was_passed_writes_nothing(
    database: FleetDatabase, tmp_path: Path
) -> None:
    """The lease was given to another since."""
    hold(database, "one", fence=2)
    with pytest.raises(LockLost), rows_of(database, tmp_path, "one", fence=1).writing():
        raise AssertionError
    with rows_of(database, tmp_path, "one", fence=2).reading() as rows:
        assert rows is None


def test_nobody_takes_a_lease_over_in_the_middle_of_a_transaction(
    database: FleetDatabase, tmp_path: Path
) -> None:
    """The first statement locks the row of the lease: the fence grows after the commit, or never."""
    hold(database, "one")
    other = FleetDatabase(database.address)
    take = "update pipimem.lease set fence = fence + 1 where id = 'one' returning fence"
    with rows_of(database, tmp_path, "one").writing() as rows:
        rows.run("insert into head (file, etag) values (?, ?)", "MEMORY.md", "mine")
        with pytest.raises(LockTimeout):
            other.rows(take)
    assert other.rows(take) == [(2,)]


def test_a_silent_client_holds_no_row_for_long(database: FleetDatabase, tmp_path: Path) -> None:
    """The server ends its transaction, of which nothing is written."""
    hold(database, "one")
    impatient = FleetDatabase(database.address, patience=0.2)

    def be_late() -> None:
        with rows_of(impatient, tmp_path, "one").writing() as rows:
            rows.run("insert into head (file, etag) values (?, ?)", "MEMORY.md", "late")
            database.rows("select pg_sleep(0.6)")
            rows.run("insert into head (file, etag) values (?, ?)", "HISTORY.md", "later")

    with pytest.raises(LockLost):
        be_late()
    with rows_of(database, tmp_path, "one").reading() as rows:
        assert rows is None


def test_a_folder_made_anew_begins_anew(database: FleetDatabase, tmp_path: Path) -> None:
    """Another channel, or another key, sees nothing of who had the folder before."""
    hold(database, "one")
    with rows_of(database, tmp_path, "one").writing() as rows:
        rows.run("insert into head (file, etag) values (?, ?)", "MEMORY.md", "old")
    other = rows_of(database, tmp_path, "one", owner=b"another")
    with other.reading() as rows:
        assert rows is None
    with other.writing() as rows:
        assert rows.all("select * from head") == []


def test_the_state_of_one_host_is_taken_over_and_given_back(
    tmp_path: Path, database: FleetDatabase
) -> None:
    """Its changes and texts are in the database after the first commit, and nowhere else."""
    root = tmp_path / "bot"
    WorkspaceStore.init(root)
    alone = opened(root)
    alone.append([Message.user("good morning", id="morning")])
    alone.commit(adding("learnt on one host"), NOW)
    text = f'[fleet]\ndatabase = "{database.address}"\nlease_seconds = 1\n'
    (root / "pipimem.toml").write_text(text)
    shared = opened(root)
    assert [change.sequence for change in shared.changes()] == [1]
    shared.commit(adding("learnt on several"), NOW)
    assert [change.sequence for change in opened(root).changes()] == [1, 2]
    assert not (shared.folder / ".pipimem" / "state.db").exists()
    assert shared.workspace.fleet is not None
    shared.workspace.leave_fleet()
    (root / "pipimem.toml").write_text("")
    back = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
    assert [change.sequence for change in back.changes()] == [1, 2]
    assert back.text_of(back.changes()[0].files[next(iter(back.changes()[0].files))].after)
    assert database.rows("select count(*) from pipimem_rows.change") == [(0,)]


def test_a_removed_channel_leaves_no_rows(root: Path, database: FleetDatabase) -> None:
    """A channel that gets its folder later starts with none."""
    store = opened(root)
    store.commit(adding("the zebra sleeps in the cellar"), NOW)
    (info,) = store.workspace.channels()
    store.workspace.remove(info)
    assert database.rows("select count(*) from pipimem_rows.line") == [(0,)]


def test_a_forgetting_leaves_no_row_with_its_words(root: Path, database: FleetDatabase) -> None:
    """In no column of any table."""
    store = opened(root)
    store.commit(adding("the zebra sleeps in the cellar"), NOW)
    store.commit(adding("the kiln is fired on Mondays"), NOW)
    assert "zebra" in every_row(database)
    store.forget("zebra", keep_transcript=False, now=NOW)
    assert "zebra" not in every_row(database)
    assert "kiln" in every_row(database)


def every_row(database: FleetDatabase) -> str:
    found = []
    for table in tables_of(SCHEMA):
        statement = f"select * from pipimem_rows.{table.name}"
        found += [value for row in database.rows(statement) for value in row]
    return "\n".join(
        bytes(value).decode(errors="replace") if isinstance(value, bytes) else str(value)
        for value in found
    )


def test_a_damaged_state_of_one_host_is_set_aside(root: Path) -> None:
    """It is kept under another name, and the database begins with the files as they are."""
    store = opened(root)
    store.make_channel()
    own = store.folder / ".pipimem"
    (store.folder / "MEMORY.md").write_text("- by hand\n")
    (own / "state.db").write_bytes(b"no database at all" * 1000)
    store.commit(adding("learnt later"), NOW)
    assert "- by hand\n" in store.notes().memory.text
    assert sorted(path.name for path in own.glob("state.db*")) == ["state.db.damaged"]
    assert opened(root).changes()[-1].task == "consolidate"
