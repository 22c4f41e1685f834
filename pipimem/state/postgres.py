"""PostgreSQL, in which several hosts keep the tables of all channels: the one door to psycopg.

Each table has a first column `scope`, a channel or the workspace. Statements see it through a view
of the same name that shows the rows of the scope in the setting `pipimem.scope`, with which each
transaction begins.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from weakref import finalize

from msgspec import Struct

from pipimem import resources
from pipimem.errors import (
    CommitUnsure,
    DatabaseUnavailable,
    LockLost,
    LockTimeout,
    SettingsError,
    StoreError,
)
from pipimem.state.rows import Row, Rows, Schema, Values
from pipimem.state.sqlite import SqliteDatabase

# A turn waits for a dead database so long, once; seconds.
_TIMEOUT = 2.0
# So long nobody asks again: the turns meanwhile would wait in vain.
_PAUSE = 5.0
_WAKE = 0.1
# A process writes to a few channels at once; more connections are closed after their use.
_MOST_IDLE = 4
# Seconds and milliseconds as libpq takes them: a host that is cut off notices it in this time.
_CONNECTION: Mapping[str, Any] = {
    "connect_timeout": 2,
    "tcp_user_timeout": 2000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "application_name": "pipimem",
}
_OPTIONS = "-c statement_timeout=2000 -c lock_timeout=1000"
# psycopg's own: it is loaded with the first statement, and not at all on one host.
_Connection = Any
_Waiting = Generator[Any, Any, Any]


@dataclass(slots=True, weakref_slot=True, eq=False)
class FleetDatabase:
    """The database of a fleet, by connections of this process that open when they are needed.

    Methods may be called from any thread, and after a fork. The server ends a transaction whose
    client was silent for `patience` seconds, so that a suspended host holds no row for long.
    """

    address: str = field(repr=False)
    patience: float = 2.5
    statements: int = 0
    _idle: list[_Connection] = field(default_factory=list, repr=False)
    _inherited: list[_Connection] = field(default_factory=list, repr=False)
    _process: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock, repr=False)
    # The monotonic time before which nobody asks, and why.
    _closed_until: float = 0.0
    _reason: str = ""

    def __post_init__(self) -> None:
        # A workspace is opened, and never closed: nobody else would do it.
        finalize(self, _close_all, self._idle, os.getpid())

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[Row]:
        """Return the rows of one statement, which is a transaction of its own.

        It may be carried out twice. Raises `LockTimeout` where somebody has a row of it locked, and
        `DatabaseUnavailable` after some seconds, and at once for 5 s from then on; whether a
        statement that failed so was carried out is not known.
        """
        psycopg = _psycopg()
        try:
            connection, cursor = self._started(statement, values)
            found = cursor.fetchall() if cursor.description else []
        except psycopg.errors.LockNotAvailable as error:
            raise LockTimeout("Another host is writing. Try again.") from error
        self._give_back(connection)
        return found

    @contextmanager
    def writing(self, beginning: str) -> Iterator[_Connection]:
        """Yield a connection in a transaction that `beginning` starts, and commit it at the end.

        Raises `LockLost` where the connection breaks before the commit, with nothing written, and
        `CommitUnsure` where it breaks in it.
        """
        psycopg = _psycopg()
        with self._transaction(beginning, LockLost) as connection:
            yield connection
            try:
                connection.execute("commit")
            except (psycopg.Error, TimeoutError) as error:
                name = type(error).__name__
                raise CommitUnsure(
                    f"The database of [fleet] broke off at a commit ({name})."
                ) from error

    @contextmanager
    def reading(self, beginning: str) -> Iterator[_Connection]:
        """Yield a connection in a transaction that `beginning` starts, and end it.

        Raises `DatabaseUnavailable` where the connection breaks.
        """
        with self._transaction(beginning, DatabaseUnavailable) as connection:
            yield connection
            connection.execute("commit")

    @contextmanager
    def _transaction(self, beginning: str, broken: type[StoreError]) -> Iterator[_Connection]:
        """Yield a connection; it is closed, which ends the transaction, where anything is raised.

        Raises `broken` where it breaks.
        """
        psycopg = _psycopg()
        connection, _ = self._started(beginning, None)
        try:
            yield connection
        except (psycopg.ProgrammingError, psycopg.DataError, psycopg.IntegrityError) as error:
            connection.close()
            raise DatabaseUnavailable(_refused(error)) from error
        except (psycopg.Error, TimeoutError) as error:
            connection.close()
            raise broken(
                f"The database of [fleet] ended a transaction ({type(error).__name__}). Nothing "
                "was written; try again."
            ) from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def create(self, *schemas: Schema) -> None:
        """Make the tables where they are missing."""
        for statement in make_tables(*schemas):
            self.rows(statement)

    def close(self) -> None:
        """Close the connections that nobody uses; the next statement opens one."""
        with self._mutex:
            idle = list(self._idle)
            self._idle.clear()
        _close_all(idle, os.getpid())

    def _started(
        self, statement: str, values: Mapping[str, object] | None
    ) -> tuple[_Connection, Any]:
        """Run a statement on a connection that nobody uses; return that, and the cursor."""
        psycopg = _psycopg()
        with self._mutex:
            self.statements += 1
        if time.monotonic() < self._closed_until:
            raise DatabaseUnavailable(self._reason)
        try:
            for connection in (self._idle_connection(), None):
                connection = connection or connected(self.address)
                try:
                    return connection, connection.execute(statement, values)
                except psycopg.errors.LockNotAvailable:
                    self._give_back(connection)
                    raise
                except (psycopg.OperationalError, psycopg.InterfaceError, OSError) as error:
                    # The server may have been started anew since: it is asked once more.
                    connection.close()
                    failure = error
                except BaseException:
                    connection.close()
                    raise
            raise self._unavailable(failure) from None
        except psycopg.errors.LockNotAvailable:
            raise
        except (psycopg.OperationalError, psycopg.InterfaceError, OSError) as error:
            raise self._unavailable(error) from None
        except psycopg.Error as error:
            raise DatabaseUnavailable(_refused(error)) from None

    def _give_back(self, connection: _Connection) -> None:
        with self._mutex:
            if len(self._idle) < _MOST_IDLE and self._process == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def _idle_connection(self) -> _Connection | None:
        with self._mutex:
            if self._process != os.getpid():
                # A connection serves one process: that of the parent is neither used nor closed.
                self._inherited += self._idle
                self._idle.clear()
                self._process = os.getpid()
            return self._idle.pop() if self._idle else None

    def _unavailable(self, error: Exception) -> DatabaseUnavailable:
        self.close()
        self._reason = (
            f"The database of [fleet] does not answer ({type(error).__name__}). Nothing was "
            "written; talk is kept on this host until it does."
        )
        self._closed_until = time.monotonic() + _PAUSE
        return DatabaseUnavailable(self._reason)


class HeldFence(NamedTuple):
    """A lock that a thread holds: its name in the database, and the number of the hold."""

    name: str
    fence: int


_STAMP = "select changed, writes from pipimem.lease where id = %(name)s"
# It takes the lock of the row: nobody takes the lease over before the transaction has ended.
_FENCE = """
update pipimem.lease
set writes = writes + 1, changed = (extract(epoch from clock_timestamp()) * 1e9)::bigint
where id = %s and fence = %s and holder <> '' returning 1
"""
_OTHER_FENCE = "select 1 from pipimem.lease where id = %s and fence = %s"
_LOCK = """
insert into pipimem.lease as lease (id, fence, holder, until, writes)
values (%s, 0, '', '-infinity', 1) on conflict (id) do update set writes = lease.writes + 1
"""
_WRITE, _READ = "begin", "begin isolation level repeatable read read only"


class PostgresDatabase(Struct, frozen=True):
    """The rows of one channel in the database of a fleet.

    `name` is that of the channel's lock, and `owner` tells the channel from any other that had its
    folder before. `held` returns the locks that this thread holds, the channel's first; without it
    writers wait for each other's transactions alone, for rows that no files go with. `before` is
    the `state.db` of a channel that was on one host before: its rows are taken over by the first
    writer, who then removes it.
    """

    connections: FleetDatabase
    schema: Schema
    name: str
    owner: bytes
    before: SqliteDatabase
    held: Callable[[], Sequence[HeldFence]] | None = None

    def stamp(self) -> tuple[int, ...] | None:
        """Return when the last transaction was, and how many there were; `None` for none.

        The second number also grows when a lock is given back under which files were written.
        """
        found = self.connections.rows(_STAMP, {"name": self.name})
        if not found or not found[0][1]:
            return self.before.stamp()
        return found[0]

    @contextmanager
    def reading(self) -> Iterator[Rows | None]:
        """Yield the rows as of one instant, `None` where there are none."""
        with self.connections.reading(self._beginning(_READ)) as connection:
            rows = PostgresRows(connection)
            if rows.all("select id from owner") == [(self.owner,)]:
                yield rows
                return
        with self.before.reading() as older:
            yield older

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """Open one transaction, whose first statement locks the row of the lease.

        Raises `LockLost` where this thread does not hold the lock any more.
        """
        with self._transaction() as rows:
            if rows.all("select id from owner") != [(self.owner,)]:
                self._begin_anew(rows)
            yield rows
        if self.before.stamp() is not None:
            self.before.path.unlink(missing_ok=True)

    @contextmanager
    def _transaction(self) -> Iterator[Rows]:
        with self.connections.writing(self._beginning(_WRITE)) as connection:
            if self.held is None:
                connection.execute(_LOCK, (self.name,))
            else:
                _check(connection, self.name, self.held())
            yield PostgresRows(connection)

    def _begin_anew(self, rows: Rows) -> None:
        """Remove the rows of another channel that had the folder; take over those of one host."""
        self._remove_all(rows)
        with self.before.reading() as older:
            if older is not None:
                copy_tables(older, rows, self.schema)
        rows.run("insert into owner (id) values (?)", self.owner)

    def copy_to(self, path: Path) -> None:
        """Write the rows into a new `state.db`."""
        target = SqliteDatabase(path, self.schema, self.before.owner)
        with self.reading() as rows:
            if rows is not None:
                with target.writing() as copy:
                    copy_tables(rows, copy, self.schema)

    def contents(self) -> bytes:
        """Return the bytes of a `state.db` with the rows; nothing where there are none."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "state.db"
            self.copy_to(path)
            return SqliteDatabase(path, self.schema, self.before.owner).contents()

    def damage(self) -> str:
        """Return nothing: the server checks its own files."""
        return ""

    def set_aside(self) -> None:
        """Give a damaged `state.db` of before another name; without one remove the rows."""
        if self.before.stamp() is not None:
            self.before.set_aside()
        else:
            self.remove_rows()

    def remove_rows(self) -> None:
        """Remove the rows, so that the next writer begins anew."""
        with self._transaction() as rows:
            self._remove_all(rows)

    def _remove_all(self, rows: Rows) -> None:
        for table in tables_of(self.schema):
            rows.run(f"delete from {table.name}")  # noqa: S608 - a name of ours

    def _beginning(self, how: str) -> str:
        sql = _psycopg().sql
        patience = f"set local idle_in_transaction_session_timeout = {self._milliseconds}"
        scope = sql.SQL("set local pipimem.scope = {}").format(sql.Literal(self.name)).as_string()
        return f"{how}; set local search_path = pipimem_views; {patience}; {scope}"

    @property
    def _milliseconds(self) -> int:
        return round(self.connections.patience * 1000)


def _check(connection: _Connection, name: str, held: Sequence[HeldFence]) -> None:
    """Lock the row of a lease. Raises `LockLost` where it, or that of a job, is not held."""
    if not held or held[0].name != name:
        raise LockLost(f"The lock {name} is not held.")
    for lock in held:
        statement = _FENCE if lock.name == name else _OTHER_FENCE
        if not connection.execute(statement, lock).fetchall():
            raise LockLost(lost(lock.name))


class PostgresRows:
    """`Rows` of a transaction that has begun."""

    __slots__ = ("_connection",)

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def all(self, statement: str, *values: object) -> list[Row]:
        """Return all rows of a query."""
        return list(self._connection.execute(_translated(statement), values).fetchall())

    def among(self, statement: str, values: Sequence[object]) -> list[Row]:
        """Return the rows of a query that ends with a column, where it has one of some values."""
        if not values:
            return []
        found = self._connection.execute(f"{_translated(statement)} = any(%s)", (list(values),))
        return list(found.fetchall())

    def run(self, statement: str, *values: object) -> int:
        """Run a statement; return how many rows it changed."""
        return int(self._connection.execute(_translated(statement), values).rowcount)

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """Run a statement once for each sequence of values."""
        listed = list(values)
        if listed:
            with self._connection.cursor() as cursor:
                cursor.executemany(_translated(statement), listed)


def lost(name: str) -> str:
    """Return the sentence for a holder whose lock another host may have."""
    folder = name.rpartition("/")[0].rpartition("/")[2] or name
    return (
        f"{folder}: this process was suspended, or cut off from the database, for longer than its "
        "lease, so another one may write. Nothing was written; try again."
    )


# ── tables ───────────────────────────────────────────────────────────────────────────────────────


class Table(NamedTuple):
    """A table as `Schema.tables` has it: its name, and its columns with their types."""

    name: str
    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]


_TABLE = re.compile(r"create table (\w+) \((.*)\)")
_INDEX = re.compile(r"create index (\w+) on (\w+) \((.*)\)")
_COLUMN_END = re.compile(r", (?![^(]*\))")
_TYPES = {"blob": "bytea", "integer": "bigint"}


def tables_of(schema: Schema) -> list[Table]:
    """Return the tables of a schema."""
    return [_table(*found.groups()) for found in map(_TABLE.fullmatch, schema.tables) if found]


def _table(name: str, body: str) -> Table:
    columns: list[tuple[str, str]] = []
    keys: tuple[str, ...] = ()
    for part in _COLUMN_END.split(body):
        if part.startswith("primary key ("):
            keys = tuple(part.removeprefix("primary key (").removesuffix(")").split(", "))
            continue
        column, _, kind = part.partition(" ")
        if kind.endswith(" primary key"):
            keys = (column,)
        words = kind.removesuffix(" primary key").split(" ")
        columns.append((column, " ".join(_TYPES.get(word, word) for word in words)))
    return Table(name, tuple(columns), keys)


def make_tables(*schemas: Schema) -> Iterator[str]:
    """Yield the statements that make the tables of a fleet, where they are missing."""
    yield from filter(str.strip, resources.fleet_schema().split(";"))
    for schema in schemas:
        for table in tables_of(schema):
            yield from _made(table)
        for found in filter(None, map(_INDEX.fullmatch, schema.tables)):
            name, table_name, columns = found.groups()
            yield (
                f"create index if not exists {name} on pipimem_rows.{table_name} (scope, {columns})"
            )


def _made(table: Table) -> Iterator[str]:
    setting = "current_setting('pipimem.scope')"
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    keys = ", ".join(("scope", *table.keys))
    yield (
        f"create table if not exists pipimem_rows.{table.name} "
        f"(scope text not null default {setting}, {columns}, primary key ({keys}))"
    )
    names = ", ".join(name for name, _ in table.columns)
    yield (
        f"create or replace view pipimem_views.{table.name} as select {names} "  # noqa: S608 - ours
        f"from pipimem_rows.{table.name} where scope = {setting}"
    )


def copy_tables(source: Rows, target: Rows, schema: Schema) -> None:
    """Copy all rows from one database into the empty tables of another."""
    for table in tables_of(schema):
        names = ", ".join(name for name, _ in table.columns)
        marks = ", ".join("?" for _ in table.columns)
        if table.name != "owner":
            found = source.all(f"select {names} from {table.name}")  # noqa: S608 - names of ours
            insert = f"insert into {table.name} ({names}) values ({marks})"  # noqa: S608 - as above
            target.run_many(insert, found)


# ── psycopg ──────────────────────────────────────────────────────────────────────────────────────


def connected(address: str) -> _Connection:
    """Return a new connection in which each statement is a transaction, unless one is begun."""
    psycopg = _psycopg()
    library: Any = psycopg.Connection

    class Timed(library):  # type: ignore[misc]  # of a module that may be missing
        """A connection that waits for no answer longer than `_TIMEOUT`."""

        def wait(self, gen: _Waiting, interval: float = _WAKE) -> Any:  # noqa: ANN401 - as there
            """Wait as the library does, but for a limited time."""
            return super().wait(_limited(gen), min(interval, _WAKE))

    options: dict[str, Any] = {**_CONNECTION, "options": _OPTIONS}
    given = psycopg.conninfo.conninfo_to_dict(address)
    options = {name: value for name, value in options.items() if name not in given}
    return Timed.connect(address, autocommit=True, **options)


def _limited(gen: _Waiting) -> _Waiting:
    until = time.monotonic() + _TIMEOUT
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                until = time.monotonic() + _TIMEOUT
            elif time.monotonic() > until:
                raise TimeoutError("no answer")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


def _translated(statement: str) -> str:
    return statement.replace("?", "%s")


def _close_all(connections: list[_Connection], process: int) -> None:
    """Close what this process opened; a child leaves its parent's alone."""
    if process == os.getpid():
        for connection in connections:
            with suppress(Exception):
                connection.close()


def _psycopg() -> Any:  # noqa: ANN401 - the module
    try:
        import psycopg.sql  # `psycopg` itself loads its other modules
    except ImportError as error:
        raise SettingsError(
            "[fleet] database needs PostgreSQL's client: pip install 'pipimem[fleet]'"
        ) from error
    return psycopg


def _refused(error: Exception) -> str:
    name = type(error).__name__
    if name in ("UndefinedTable", "InvalidSchemaName", "UndefinedColumn"):
        return (
            "The database of [fleet] has no tables of this version of pipimem. "
            "Run `pipimem fleet init`."
        )
    return f"The database of [fleet] refused a statement ({name})."
