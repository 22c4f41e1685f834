"""Model calls that ended, and reservations for those under way, as rows of a workspace's state."""

from __future__ import annotations

import os
from datetime import datetime
from operator import itemgetter
from typing import Any

from msgspec import Struct

from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.state.rows import Row, Rows
from pipimem.text import json_lines
from pipimem.text.json_codec import decoded, encoded

TABLES = (
    # `at` is when the call ended, in seconds since 1970.
    "create table usage (id integer primary key, at double precision not null, "
    "time blob not null, channel blob not null, task blob not null, model blob not null, "
    "tokens_in bigint not null, tokens_out bigint not null, tokens_cached bigint not null, "
    "cost double precision, latency double precision not null, outcome blob not null, "
    "correlation blob not null, reason blob not null, estimated_in bigint not null, "
    "estimated_out bigint not null, estimated_cost double precision, prompt blob not null)",
    "create index usage_at on usage (at)",
    "create table reservation (name text primary key, fields blob not null)",
)
_COLUMNS = Usage.__struct_fields__
_NAMES = ", ".join(_COLUMNS)
_MARKS = ", ".join("?" for _ in _COLUMNS)
_SELECT = f"select id, {_NAMES} from usage"  # noqa: S608 - names of our own columns
_INSERT = f"insert into usage (id, at, {_NAMES}) values (?, ?, {_MARKS})"  # noqa: S608 - as above


_LONG_AGO = float("-inf")
_NAME_BYTES = 8


class OpenLedger(Struct, frozen=True):
    """The calls and the reservations within one transaction."""

    rows: Rows

    def append(self, *usages: Usage) -> None:
        """Add calls behind those that are there. Their times are ISO 8601 with offset."""
        newest = self.rows.all("select coalesce(max(id), 0) from usage")[0][0]
        self.rows.run_many(
            _INSERT, ((newest + number, *_values(usage)) for number, usage in enumerate(usages, 1))
        )

    def usages(self, since: datetime | None, channel: str | None) -> list[Usage]:
        """Return the calls since a time, of all channels or of one, in the order of their ends."""
        at = _LONG_AGO if since is None else since.timestamp()
        if channel is None:
            found = self.rows.all(f"{_SELECT} where at >= ? order by at, id", at)
        else:
            statement = f"{_SELECT} where at >= ? and channel = ? order by at, id"
            found = self.rows.all(statement, at, _encoded(channel))
        return [_usage(row) for row in found]

    def fresh(self, cursor: UsageCursor) -> list[Usage] | None:
        """Return the calls behind a cursor, which moves to the newest, in order of their numbers.

        `None` where the last call that it has seen is gone: the database is another one.
        """
        since = cursor.since.timestamp()
        if cursor.last is None:
            # Sorted here: by the order that is asked for SQLite chooses its index.
            found = self.rows.all(f"{_SELECT} where at >= ? order by at", since)
            found.sort(key=itemgetter(0))
        else:
            statement = f"{_SELECT} where id >= ? and at >= ? order by id"
            found = self.rows.all(statement, cursor.newest, since)
            if not found or found[0][0] != cursor.newest or _usage(found[0]) != cursor.last:
                return None
            del found[0]
        usages = [_usage(row) for row in found]
        if found:
            cursor.newest, cursor.last = found[-1][0], usages[-1]
        return usages

    def held(self) -> dict[str, Reservation]:
        """Return the reservations of all processes, by name."""
        found = self.rows.all("select name, fields from reservation")
        return {
            name: decoded(Reservation, json_lines.value(bytes(fields))) for name, fields in found
        }

    def place(self, hold: Reservation, name: str = "") -> str:
        """Add a reservation under a new name, which is returned."""
        # No name comes twice: in containers the process numbers are the same.
        name = name or f"{os.getpid()}-{os.urandom(_NAME_BYTES).hex()}"
        fields = json_lines.line(encoded(hold))
        self.rows.run("insert into reservation (name, fields) values (?, ?)", name, fields)
        return name

    def release(self, name: str) -> bool:
        """Remove a reservation; return whether it was there."""
        return self.rows.run("delete from reservation where name = ?", name) > 0


def _values(usage: Usage) -> list[object]:
    at = datetime.fromisoformat(usage.time).timestamp()
    values = (getattr(usage, name) for name in _COLUMNS)
    return [at, *(_encoded(value) if isinstance(value, str) else value for value in values)]


def _usage(row: Row) -> Usage:
    fields: list[Any] = [_decoded(one) if isinstance(one, bytes) else one for one in row[1:]]
    return Usage(**dict(zip(_COLUMNS, fields, strict=True)))


def _encoded(text: str) -> bytes:
    # The id of a channel, and a name from the command line, may hold what is no text.
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
