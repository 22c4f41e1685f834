"""PostgreSQL, asked in short statements: the one door to psycopg."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any
from weakref import finalize

from pipimem import resources
from pipimem.errors import DatabaseUnavailable, SettingsError

# A turn waits for a dead database so long, once; seconds.
_TIMEOUT = 2.0
# So long nobody asks again: the turns meanwhile would wait in vain.
_PAUSE = 5.0
_WAKE = 0.1
# Who listens looks so often whether anybody still wants to know; seconds.
_LISTENING = 1.0
# Seconds and milliseconds as libpq takes them: a host that is cut off notices it in this time.
_CONNECTION: Mapping[str, Any] = {
    "connect_timeout": 2,
    "tcp_user_timeout": 2000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "application_name": "pipimem",
}
# After it the session that was told of waits no longer for a lock of a row.
_OPTIONS = "-c statement_timeout=2000 -c lock_timeout=2000"

Row = tuple[Any, ...]
# psycopg's own: it is loaded with the first statement, and not at all on one host.
Connection = Any
Waiting = Generator[Any, Any, Any]


@dataclass(slots=True, weakref_slot=True, eq=False)
class FleetDatabase:
    """The database of a fleet; its methods may be called from any thread, and after a fork."""

    address: str = field(repr=False)
    statements: int = 0
    _idle: list[Connection] = field(default_factory=list, repr=False)
    _inherited: list[Connection] = field(default_factory=list, repr=False)
    _process: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock, repr=False)
    # The monotonic time before which nobody asks, and why.
    _closed_until: float = 0.0
    _reason: str = ""

    def __post_init__(self) -> None:
        # A workspace is opened, and never closed: nobody else would do it.
        finalize(self, _close_all, self._idle, os.getpid())

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> Sequence[Row]:
        """What one statement returns, as one round trip and one transaction.

        It may be carried out twice. Raises `DatabaseUnavailable` after some seconds, and at once
        for 5 s from then on; whether a statement that failed so was carried out is not known.
        """
        psycopg = _psycopg()
        with self._mutex:
            self.statements += 1
        if time.monotonic() < self._closed_until:
            raise DatabaseUnavailable(self._reason)
        try:
            try:
                return self._asked(self._idle_connection(), statement, values)
            except (psycopg.OperationalError, psycopg.InterfaceError, IndexError):
                # None was idle, or the server was started anew since: it is asked once more.
                return self._asked(connected(self.address), statement, values)
        except (psycopg.OperationalError, psycopg.InterfaceError, OSError) as error:
            raise self._unavailable(error) from None
        except psycopg.Error as error:
            raise DatabaseUnavailable(_refused(error)) from None

    def _asked(
        self,
        connection: Connection,
        statement: str,
        values: Mapping[str, object] | None,
    ) -> Sequence[Row]:
        with ExitStack() as on_failure:
            on_failure.callback(connection.close)
            cursor = connection.execute(statement, values, prepare=True)
            rows = cursor.fetchall() if cursor.description else []
            on_failure.pop_all()
        with self._mutex:
            self._idle.append(connection)
        return rows

    def create(self) -> None:
        """Makes the tables, where they are missing."""
        for statement in schema().split(";"):
            if statement.strip():
                self.rows(statement)

    def close(self) -> None:
        """Closes the connections that nobody uses; the next statement opens one."""
        with self._mutex:
            idle = list(self._idle)
            self._idle.clear()
        _close_all(idle, os.getpid())

    def _idle_connection(self) -> Connection:
        """One that nobody uses. Raises `IndexError` where there is none."""
        with self._mutex:
            if self._process != os.getpid():
                # A connection serves one process: that of the parent is neither used nor closed.
                self._inherited += self._idle
                self._idle.clear()
                self._process = os.getpid()
            return self._idle.pop()

    def _unavailable(self, error: Exception) -> DatabaseUnavailable:
        self.close()
        self._reason = (
            f"The database of [fleet] does not answer ({type(error).__name__}). Nothing was "
            "written; talk is kept on this host until it does."
        )
        self._closed_until = time.monotonic() + _PAUSE
        return DatabaseUnavailable(self._reason)


def notifications(address: str, name: str) -> Generator[list[str]]:
    """The notices under a name from now on; nothing at first, and each second without any.

    Raises `DatabaseUnavailable` where the connection is lost.
    """
    psycopg = _psycopg()
    try:
        connection = connected(address)
        with closing(connection), selectors.DefaultSelector() as selector:
            connection.execute(psycopg.sql.SQL("listen {}").format(psycopg.sql.Identifier(name)))
            selector.register(connection, selectors.EVENT_READ)
            while True:
                yield [
                    notice.extra.decode(errors="replace")
                    for notice in iter(connection.pgconn.notifies, None)
                ]
                selector.select(_LISTENING)
                connection.pgconn.consume_input()
    except (psycopg.Error, OSError) as error:
        raise DatabaseUnavailable(_refused(error)) from None


def _close_all(connections: list[Connection], process: int) -> None:
    """Closes what this process opened; a child leaves its parent's alone."""
    if process == os.getpid():
        for connection in connections:
            connection.close()


def connected(address: str) -> Connection:
    """A new connection in which each statement is a transaction. Raises what psycopg raises."""
    psycopg = _psycopg()
    library: Any = psycopg.Connection

    class Timed(library):  # type: ignore[misc]  # of a module that may be missing
        """A connection that waits for no answer longer than `_TIMEOUT`."""

        def wait(self, gen: Waiting, interval: float = _WAKE) -> Any:  # noqa: ANN401 - as there
            """Waits as the library does, but for a limited time."""
            return super().wait(_limited(gen), min(interval, _WAKE))

    options: dict[str, Any] = {**_CONNECTION, "options": _OPTIONS}
    given = psycopg.conninfo.conninfo_to_dict(address)
    options = {name: value for name, value in options.items() if name not in given}
    return Timed.connect(address, autocommit=True, **options)


def _limited(gen: Waiting) -> Waiting:
    until = time.monotonic() + _TIMEOUT
    wanted = next(gen)
    while True:
        try:
            ready = yield wanted
            if not ready and time.monotonic() > until:
                raise TimeoutError("no answer")
            wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


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
    if name in ("UndefinedTable", "InvalidSchemaName"):
        return "The database of [fleet] has no tables of pipimem. Run `pipimem fleet init`."
    return f"The database of [fleet] refused a statement ({name})."


def schema() -> str:
    """The statements that make the tables."""
    return resources.fleet_schema()
