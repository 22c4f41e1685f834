"""The database that the hosts of a fleet share: the one place that imports psycopg."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pipimem.errors import StoreError

_CONNECT_SECONDS = 2


@dataclass(slots=True, eq=False, repr=False)
class Database:
    """Connections to one database, made when needed and kept; `conninfo` is libpq's."""

    conninfo: str
    _free: list[psycopg.Connection[tuple[Any, ...]]] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def rows(self, statement: str, parameters: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement, committed when it returns. Raises `StoreError`."""
        with self._connection() as connection, connection.cursor() as cursor:
            cursor.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def locked(self, key: int) -> Iterator[None]:
        """While it lasts, no other process holds this advisory lock. Raises `StoreError`."""
        with self._connection() as connection:
            connection.execute("select pg_advisory_lock(%s)", (key,))
            try:
                yield
            finally:
                connection.execute("select pg_advisory_unlock(%s)", (key,))

    def close(self) -> None:
        """Closes what is not in use."""
        with self._mutex:
            while self._free:
                self._free.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        with self._mutex:
            connection = self._free.pop() if self._free else None
        try:
            if connection is None:
                connection = psycopg.connect(
                    self.conninfo, autocommit=True, connect_timeout=_CONNECT_SECONDS
                )
            yield connection
        except psycopg.Error as error:
            if connection is not None:
                connection.close()
                connection = None
            # The driver's message may hold the address, and with it a password.
            raise StoreError(f"the database did not answer: {type(error).__name__}") from error
        finally:
            if connection is not None and not connection.closed:
                with self._mutex:
                    self._free.append(connection)
