"""The rules by which a `state.db` is opened, and what is done with one that is damaged."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pipimem.errors import DamagedState, LockLost, StoreError
from pipimem.state.rows import Schema
from pipimem.state.sqlite import SqliteDatabase

TABLES = (
    "create table owner (id blob not null)",
    "create table word (id integer primary key, body blob not null)",
)
SCHEMA = Schema(application=7, version=1, tables=TABLES)


@pytest.fixture
def database(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "state.db", SCHEMA, "room")


def put(database: SqliteDatabase, *words: bytes) -> None:
    with database.writing() as rows:
        rows.run_many("insert into word (body) values (?)", [(word,) for word in words])


def words(database: SqliteDatabase) -> list[bytes]:
    with database.reading() as rows:
        return [] if rows is None else [row[0] for row in rows.all("select body from word")]


def test_reading_makes_no_file(database: SqliteDatabase) -> None:
    with database.reading() as rows:
        assert rows is None
    assert not database.path.exists()


def test_a_transaction_is_all_or_nothing(database: SqliteDatabase) -> None:
    put(database, b"kept")

    def fail() -> None:
        with database.writing() as rows:
            rows.run("insert into word (body) values (?)", b"lost")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert words(database) == [b"kept"]


def test_every_connection_has_the_settings_that_a_power_cut_needs(
    database: SqliteDatabase,
) -> None:
    with database.writing() as rows:
        found = [
            rows.all(f"pragma {name}")[0][0]
            for name in ("journal_mode", "synchronous", "secure_delete", "temp_store", "page_size")
        ]
    assert found == ["delete", 3, 1, 2, 1024]


def test_nothing_lies_beside_the_file_at_rest(database: SqliteDatabase) -> None:
    put(database, b"a")
    assert [path.name for path in database.path.parent.iterdir()] == ["state.db"]
    assert database.path.stat().st_mode & 0o777 == 0o600


def test_what_is_deleted_leaves_no_byte(database: SqliteDatabase) -> None:
    put(database, *[b"needle %d" % number for number in range(200)])
    with database.writing() as rows:
        rows.run("delete from word")
    assert b"needle" not in database.contents()


@pytest.mark.parametrize("data", [b"no database at all, but long enough to be read" * 40, None])
def test_a_damaged_file_is_set_aside_by_the_next_writer(
    database: SqliteDatabase, data: bytes | None
) -> None:
    put(database, *[b"word %d" % number for number in range(500)])
    if data is None:  # cut in the middle
        data = database.path.read_bytes()[:4096]
    database.path.write_bytes(data)
    with pytest.raises(DamagedState):
        words(database)
    put(database, b"new")
    assert words(database) == [b"new"]
    assert (database.path.parent / "state.db.damaged").read_bytes() == data


def test_another_channels_file_is_set_aside(database: SqliteDatabase, tmp_path: Path) -> None:
    other = SqliteDatabase(tmp_path / "other.db", SCHEMA, "hall")
    put(other, b"theirs")
    other.path.replace(database.path)
    with pytest.raises(DamagedState):
        words(database)
    put(database, b"ours")
    assert words(database) == [b"ours"]


def test_a_newer_layout_is_refused(database: SqliteDatabase) -> None:
    put(database, b"a")
    with closing(sqlite3.connect(database.path)) as db:
        db.execute("pragma user_version = 2")
    for use in (lambda: words(database), lambda: put(database, b"b")):
        with pytest.raises(StoreError, match="newer pipimem"):
            use()


def test_an_older_layout_is_brought_up_by_the_next_writer(
    database: SqliteDatabase,
) -> None:
    put(database, b"a")
    steps = {1: ("create table more (id integer primary key)",)}
    newer = SqliteDatabase(database.path, Schema(7, 2, TABLES, steps), "room")
    put(newer, b"b")
    with newer.reading() as rows:
        assert rows is not None
        assert rows.all("select * from more") == []
        assert rows.all("pragma user_version") == [(2,)]


def test_a_file_that_is_deleted_in_a_transaction_is_told(database: SqliteDatabase) -> None:
    put(database, b"a")

    def write() -> None:
        with database.writing() as rows:
            database.path.unlink()
            rows.run("insert into word (body) values (?)", b"b")

    with pytest.raises(LockLost):
        write()
    assert words(database) == []


def test_a_read_only_place_can_be_read(database: SqliteDatabase) -> None:
    put(database, b"a")
    database.path.chmod(0o400)
    database.path.parent.chmod(0o500)
    try:
        assert words(database) == [b"a"]
        if os.geteuid():  # the rights of root are not asked for
            with pytest.raises(StoreError, match="read-only"):
                put(database, b"b")
    finally:
        database.path.parent.chmod(0o700)


def test_its_bytes_are_a_whole_database(database: SqliteDatabase, tmp_path: Path) -> None:
    put(database, b"a")
    (tmp_path / "copy.db").write_bytes(database.contents())
    copy = SqliteDatabase(tmp_path / "copy.db", SCHEMA, "room")
    assert words(copy) == [b"a"]
    assert copy.damage() == ""
