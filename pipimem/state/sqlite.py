"""The one module that opens a `state.db`.

Nothing else in this process may open the file, not even to read its bytes: closing any descriptor
of it drops the locks that SQLite has on it. A connection lives for one operation in one thread.
Writers hold the channel's lock, so that they wait for each other there and not here.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from pipimem.errors import CommitUnsure, DamagedState, LockLost, LockTimeout, StoreError
from pipimem.state.rows import Row, Rows, Schema, Values

# A writer holds the channel's lock, so nobody else writes; readers are done in milliseconds.
_SECONDS = 30.0
# A transaction keeps readers out for its last milliseconds, one of a stopped process for longer.
_READING_SECONDS = 2.0
# With `full` a power cut takes the newest transaction back: the removal of the rollback journal is
# not synced. `secure_delete` writes zeros over what is deleted; without `temp_store` and
# `cache_spill` a part of a text might be written elsewhere first, or half a transaction before its
# end. Small pages: most channels are a few KB. `fullfsync` counts on macOS alone.
_PRAGMAS = (
    "pragma page_size = 1024",
    "pragma journal_mode = delete",
    "pragma synchronous = extra",
    "pragma secure_delete = on",
    "pragma temp_store = memory",
    "pragma cache_spill = off",
    "pragma fullfsync = on",
)
_OLDEST = (3, 35, 0)
# SQLite before 3.32 takes no more than 999 values in a statement.
_MOST_VALUES = 500
_TABLE = "create table "

_log = logging.getLogger("pipimem")


class SqliteDatabase(Struct, frozen=True):
    """A `state.db`. `owner` is the id of the channel, empty for a workspace.

    A file that is damaged, or another channel's, is set aside by the next writer as
    `state.db.damaged`, and a new one is begun.
    """

    path: Path
    schema: Schema
    owner: str = ""

    def stamp(self) -> tuple[int, ...] | None:
        """Return the time, size and inode of the file; `None` where there is none."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns

    @contextmanager
    def reading(self) -> Iterator[Rows | None]:
        """Open the file for reading; yield `None` where there is none, or none to be read now.

        What a killed writer left is rolled back by the first reader who may write there.
        """
        if not self._has_content():
            yield None
            return
        with self._errors("read"), closing(self._connected("rw")) as db:
            if self._is_ours(db):
                self._complete(db)
                yield _SqliteRows(db)
            else:
                yield None

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """Open the file, which is made where it is not there, for one transaction."""
        is_new = not self._has_content()
        with self._errors("write"):
            try:
                db = self._opened_to_write(is_new=is_new)
            except DamagedState:
                self.set_aside()
                db = self._opened_to_write(is_new=True)
            with closing(db):
                file = _file_of(self.path)
                try:
                    yield _SqliteRows(db)
                except BaseException:
                    with suppress(sqlite3.Error):
                        if db.in_transaction:
                            db.execute("rollback")
                    raise
                self._commit(db)
                # The file system's clock may tick too slowly to tell two transactions apart.
                with suppress(OSError):
                    now = time.time_ns()
                    os.utime(self.path, ns=(now, now))
                if _file_of(self.path) != file:
                    raise LockLost(_replaced(self.path))

    def damage(self) -> str:
        """Return what SQLite's own check finds wrong with the file; empty for nothing."""
        if not self._has_content():
            return ""
        try:
            with closing(self._connected("rw")) as db:
                found = [str(row[0]) for row in db.execute("pragma integrity_check(5)").fetchall()]
        except sqlite3.DatabaseError as error:
            return str(error)
        return "" if found == ["ok"] else "; ".join(found)

    def contents(self) -> bytes:
        """Return the bytes of the file, with what is free in it, as SQLite reads them."""
        if not self._has_content():
            return b""
        with self._errors("read"), closing(self._connected("rw")) as db:
            return db.serialize()

    def values(self) -> list[object]:
        """Return every value of every table."""
        if not self._has_content():
            return []
        with self._errors("read"), closing(self._connected("rw")) as db:
            names = db.execute("select name from sqlite_master where type = 'table'").fetchall()
            # The names are those of our schemas, and of nobody else's.
            queries = [f'select * from "{name}"' for (name,) in names]  # noqa: S608
            tables = [db.execute(query).fetchall() for query in queries]
        return [value for rows in tables for row in rows for value in row]

    def copy_to(self, path: Path) -> None:
        """Write a whole copy of the file. The caller holds the lock."""
        with (
            self._errors("copy"),
            closing(self._connected("rw")) as db,
            closing(sqlite3.connect(path)) as copy,
        ):
            db.backup(copy, pages=-1)

    def set_aside(self) -> None:
        """Give the file another name. The caller holds the lock."""
        if os.path.lexists(self.path):
            set_aside(self.path)

    def _opened_to_write(self, *, is_new: bool) -> sqlite3.Connection:
        """Return a connection in a transaction that has begun. Raises `DamagedState`."""
        db = self._connected("rwc")
        try:
            with _damage(self.path):
                for pragma in _PRAGMAS:
                    db.execute(pragma)
                db.execute("begin immediate")
                if not is_new and self._is_ours(db, is_to_write=True):
                    return db
                if is_new or not _tables_in(db):
                    self._make(db)
                    return db
            raise DamagedState(_damaged(self.path))
        except BaseException:
            db.close()
            raise

    def _make(self, db: sqlite3.Connection) -> None:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old: pipimem needs 3.35. Use a newer "
                "Python, or one that is linked with a newer SQLite."
            )
        for statement in self.schema.tables:
            db.execute(statement)
        db.execute("insert into owner (id) values (?)", (_bytes(self.owner),))
        db.execute(f"pragma application_id = {self.schema.application}")
        db.execute(f"pragma user_version = {self.schema.version}")
        with suppress(OSError):
            self.path.chmod(0o600)

    def _is_ours(self, db: sqlite3.Connection, *, is_to_write: bool = False) -> bool:
        """Whether the file is this channel's, of a layout that this program knows.

        Raises `StoreError` for one of a newer program, and `DamagedState` as `_damage` does.
        """
        with _damage(self.path):
            number = db.execute("pragma application_id").fetchone()[0]
            version = db.execute("pragma user_version").fetchone()[0]
            if number == 0 and version == 0 and not _tables_in(db):
                return False  # nothing was committed into it yet
            if number != self.schema.application:
                raise DamagedState(_damaged(self.path))
            if version > self.schema.version:
                raise StoreError(
                    f"{self.path} was written by a newer pipimem (layout {version}). Update "
                    "pipimem."
                )
            if db.execute("select id from owner").fetchall() != [(_bytes(self.owner),)]:
                raise DamagedState(_damaged(self.path))
            if is_to_write:
                for older in range(version, self.schema.version):
                    for statement in self.schema.steps[older]:
                        db.execute(statement)
                    db.execute(f"pragma user_version = {older + 1}")
        return True

    def _complete(self, db: sqlite3.Connection) -> None:
        """Give a reader of an older layout the tables that it lacks, empty, until it closes."""
        version = db.execute("pragma user_version").fetchone()[0]
        for older in range(version, self.schema.version):
            for statement in self.schema.steps.get(older, ()):
                if statement.startswith(_TABLE):
                    db.execute(statement.replace(_TABLE, "create temp table ", 1))

    def _commit(self, db: sqlite3.Connection) -> None:
        """End the transaction. Raises `CommitUnsure` where it is not known whether it counts."""
        until = time.monotonic() + _SECONDS
        while True:
            try:
                db.execute("commit")
                return
            except sqlite3.OperationalError as error:
                if _code(error) == sqlite3.SQLITE_BUSY and time.monotonic() < until:
                    continue  # somebody reads; the transaction stands
                if _is_full(error) and not db.in_transaction:
                    raise  # it was rolled back
                raise CommitUnsure(f"{self.path}: {error}. Try again.") from error

    def _connected(self, mode: str) -> sqlite3.Connection:
        try:
            return self._connect(mode)
        except sqlite3.OperationalError:
            if mode == "rwc":
                raise
            return self._connect("ro")

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        seconds = _SECONDS if mode == "rwc" else _READING_SECONDS
        return sqlite3.connect(address, timeout=seconds, isolation_level=None, uri=True)

    def _has_content(self) -> bool:
        """Whether the file is there, and not empty. Raises `StoreError` for what is no file."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(
                f"{self.path} is no file, where a database of ours belongs. Move it away and try "
                "again; a new file is made where needed."
            )
        return status.st_size > 0

    @contextmanager
    def _errors(self, action: str) -> Iterator[None]:
        """Turn errors of SQLite into ours."""
        try:
            yield
        except DamagedState as error:
            raise error from error.__cause__
        except sqlite3.Error as error:
            # What fails as the file or its folder is deleted has many codes.
            is_gone = _code(error) == sqlite3.SQLITE_IOERR and not self.path.exists()
            if is_gone or _is_moved(error):
                raise LockLost(_replaced(self.path)) from error
            if _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise DamagedState(_damaged(self.path)) from error
            if _code(error) == sqlite3.SQLITE_BUSY:
                raise LockTimeout(
                    f"Cannot {action} {self.path}: another process holds it, and does not go on. "
                    "End the process that has it open, or let it continue."
                ) from error
            raise StoreError(f"Cannot {action} {self.path}: {_reason(error)}") from error


class MemoryDatabase(Struct):
    """A database in memory, for what an older format keeps in files. Nothing reaches the disk.

    `stamped` returns the stamp of these files.
    """

    schema: Schema
    stamped: Callable[[], tuple[int, ...]]
    _db: sqlite3.Connection | None = None

    def stamp(self) -> tuple[int, ...] | None:
        """Return the stamp of the files that it was filled from."""
        return self.stamped()

    @contextmanager
    def reading(self) -> Iterator[Rows | None]:
        """Yield the rows; `None` before it is filled."""
        yield None if self._db is None else _SqliteRows(self._db)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """Yield the rows of a new database."""
        # Threads use it one after the other: whoever reads a channel holds its mutex.
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in self.schema.tables:
            db.execute(statement)
        yield _SqliteRows(db)
        self._db = db

    def damage(self) -> str:
        """Return that nothing is wrong: memory does not rot."""
        return ""

    def set_aside(self) -> None:
        """Do nothing: there is no file."""


class _SqliteRows:
    __slots__ = ("_db",)

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def all(self, statement: str, *values: object) -> list[Row]:
        return self._db.execute(statement, values).fetchall()

    def among(self, statement: str, values: Sequence[object]) -> list[Row]:
        found: list[Row] = []
        for start in range(0, len(values), _MOST_VALUES):
            some = values[start : start + _MOST_VALUES]
            marks = ", ".join("?" * len(some))
            found += self._db.execute(f"{statement} in ({marks})", some).fetchall()
        return found

    def run(self, statement: str, *values: object) -> int:
        return self._db.execute(statement, values).rowcount

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        self._db.executemany(statement, values)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a damaged file into `DamagedState`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        is_table_missing = isinstance(error, sqlite3.OperationalError) and "no such" in str(error)
        if is_table_missing or _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DamagedState(_damaged(path)) from error
        raise


def set_aside(path: Path) -> Path:
    """Give a damaged `state.db`, with its rollback journal, another name. Returns the new path.

    The caller holds the lock of the channel or the workspace.
    """
    number = 0
    while True:
        target = path.with_name(f"{path.name}.damaged{number or ''}")
        if not os.path.lexists(target):
            break
        number += 1
    path.replace(target)
    journal = path.with_name(f"{path.name}-journal")
    if os.path.lexists(journal):
        journal.replace(target.with_name(f"{target.name}-journal"))
    _log.warning(
        "%s is damaged, or belongs to another channel. It is kept as %s, and a new one is begun: "
        "undo, and what was known of entries, ends here. Notes and talk are whole.",
        path,
        target.name,
    )
    return target


def _tables_in(db: sqlite3.Connection) -> bool:
    return bool(db.execute("select 1 from sqlite_master limit 1").fetchall())


def _file_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from any other that may take its name."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_moved(error: sqlite3.Error) -> bool:
    """Whether the file was deleted or replaced while it was open."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code in (sqlite3.SQLITE_READONLY_DBMOVED, sqlite3.SQLITE_IOERR_DELETE_NOENT)


def _is_full(error: sqlite3.Error) -> bool:
    return _code(error) == sqlite3.SQLITE_FULL


def _reason(error: sqlite3.Error) -> str:
    if _is_full(error):
        return "The disk is full. Free some space; what was there is whole."
    if _code(error) == sqlite3.SQLITE_READONLY:
        return "It is read-only. Check the owner and mode of the file and its folder."
    if _code(error) == sqlite3.SQLITE_CANTOPEN:
        return "It cannot be opened. Check the owner and mode of the file and its folder."
    return f"{error}. Check the disk; what was there is whole."


def _damaged(path: Path) -> str:
    return (
        f"{path} is damaged, or belongs to another channel. It is set aside with the next change; "
        "the notes and the talk are whole."
    )


def _replaced(path: Path) -> str:
    return f"{path} was deleted or replaced while it was written. Try again."
