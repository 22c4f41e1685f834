"""The ledger of a channel, and other values, in rows."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.state.rows import Rows
from pipimem.text import json_lines
from pipimem.text.json_codec import decoded, encoded

SETTLED_TABLE = "create table settled (pair text primary key, day text not null)"
TABLES = (
    "create table record (name text primary key, value blob not null)",
    "create table tombstone (name text primary key, reason blob not null, upto bigint not null)",
    "create table value (name text primary key, value blob not null)",
    SETTLED_TABLE,
)
_LEDGER = "ledger"


def stored_ledger(rows: Rows, sequence: int) -> Ledger:
    """Return the ledger that a database has."""
    records = {
        name: decoded(Record, json_lines.value(bytes(value)))
        for name, value in rows.all("select name, value from record")
    }
    tombstones = {
        name: Tombstone(bytes(reason).decode("utf-8", "surrogatepass"), upto)
        for name, reason, upto in rows.all("select name, reason, upto from tombstone")
    }
    found = rows.all("select value from value where name = ?", _LEDGER)
    rest = decoded(Ledger, json_lines.value(bytes(found[0][0]))) if found else Ledger()
    settled: dict[str, str] = dict(rows.all("select pair, day from settled"))
    return replace(rest, sequence=sequence, records=records, tombstones=tombstones, settled=settled)


def _without_rows(ledger: Ledger) -> Ledger:
    """Return what of a ledger is not written row by row."""
    return replace(ledger, sequence=0, records={}, tombstones={}, settled={})


def write_ledger(rows: Rows, before: Ledger, after: Ledger, delta: Delta) -> None:
    """Write what a change makes of the ledger `before`, which the database has."""
    rows.run_many("delete from record where name = ?", ((name,) for name in delta.records))
    rows.run_many("delete from tombstone where name = ?", ((name,) for name in delta.tombstones))
    records = [(name, after.records.get(name)) for name in delta.records]
    rows.run_many(
        "insert into record (name, value) values (?, ?)",
        [(name, json_lines.line(encoded(record))) for name, record in records if record],
    )
    tombstones = [(name, after.tombstones.get(name)) for name in delta.tombstones]
    rows.run_many(
        "insert into tombstone (name, reason, upto) values (?, ?, ?)",
        [
            (name, stone.reason.encode("utf-8", "surrogatepass"), stone.upto)
            for name, stone in tombstones
            if stone
        ],
    )
    _write_settled(rows, after, delta)
    if _without_rows(before) != _without_rows(after):
        put_value(rows, _LEDGER, encoded(_without_rows(after)))


def _write_settled(rows: Rows, after: Ledger, delta: Delta) -> None:
    rows.run_many("delete from settled where pair = ?", ((pair,) for pair in delta.settled))
    settled = [(pair, after.settled[pair]) for pair in delta.settled if pair in after.settled]
    rows.run_many("insert into settled (pair, day) values (?, ?)", settled)


def put_value(rows: Rows, name: str, value: Mapping[str, object] | None) -> None:
    """Write a value under a name in the place of the former one; `None` only removes that."""
    rows.run("delete from value where name = ?", name)
    if value is not None:
        rows.run("insert into value (name, value) values (?, ?)", name, json_lines.line(value))


def get_value(rows: Rows, name: str) -> dict[str, object] | None:
    """Return the value of a name; `None` where there is none."""
    found = rows.all("select value from value where name = ?", name)
    return json_lines.value(bytes(found[0][0])) if found else None
