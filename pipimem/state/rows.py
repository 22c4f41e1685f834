"""Rows of a database within one transaction, and the tables that a database has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from pipimem.text import json_lines

Row = tuple[Any, ...]
Values = Sequence[object]


class Rows(Protocol):
    """Statements in one transaction. Every read returns all its rows: no cursor stays open.

    Statements use what SQLite and PostgreSQL have in common, with `?` for each value.
    """

    def all(self, statement: str, *values: object) -> list[Row]:
        """Return all rows of a query."""

    def among(self, statement: str, values: Sequence[object]) -> list[Row]:
        """Return the rows of a query that ends with a column, where it has one of some values."""

    def run(self, statement: str, *values: object) -> int:
        """Run a statement; return how many rows it changed."""

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """Run a statement once for each sequence of values."""


class Schema(Struct, frozen=True):
    """The tables of a database, by statements that make them.

    `application` is the number in the file's header that says whose it is. `version` is the number
    of the newest layout, and `steps` has for each older one the statements that lead to the next.
    """

    application: int
    version: int
    tables: tuple[str, ...]
    steps: Mapping[int, tuple[str, ...]] = {}


class Database(Protocol):
    """A database that is opened for one operation and closed after it."""

    def reading(self) -> AbstractContextManager[Rows | None]:
        """Open it for reading; `None` where there is none, or none that can be read."""

    def writing(self) -> AbstractContextManager[Rows]:
        """Open it for one transaction, which is durable when this ends without an error.

        Raises `StoreError` with nothing written, `LockLost` where it was deleted meanwhile, and
        `CommitUnsure` where it is not known whether the transaction counts.
        """

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes with every transaction; `None` where there is no database."""

    def damage(self) -> str:
        """Return what the database's own check finds wrong with it; empty for nothing."""

    def set_aside(self) -> None:
        """Give a damaged database another name, so that the next writer begins a new one."""


def texts_of(value: object) -> Iterator[str]:
    """Yield the text of a value of a row; of a JSON object each text in it by itself."""
    if not isinstance(value, bytes | memoryview):
        yield str(value)
        return
    data = bytes(value)
    found = json_lines.value(data)
    if found is None:
        yield data.decode("utf-8", "replace")
    else:
        yield from texts_in(found)


def texts_in(value: object) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        for part in value:
            yield from texts_in(part)


class StoredDatabase(Database, Protocol):
    """A database that outlasts the process."""

    def contents(self) -> bytes:
        """Return the bytes of a `state.db` with its rows; nothing where there are none."""

    def copy_to(self, path: Path) -> None:
        """Write a whole copy as a new `state.db`."""
