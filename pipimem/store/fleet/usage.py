"""What budgets are counted by where several hosts share a workspace: tables of the database.

Each host also writes its calls to a file of its own in `.pipimem/`, which is its record: the
database can be filled again from it. No text of memory goes to the database: the reason of a failed
call, which may quote an answer, stays in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from os import urandom
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import PipimemError
from pipimem.notes.usage import Reservation, Usage
from pipimem.store.disk.folder_lock import MakeLock
from pipimem.store.usage_ledger import append_quotable, host_lines
from pipimem.text.dates.bounds import local
from pipimem.text.json_codec import encoded
from pipimem.text.json_lines import line

# A channel that was claimed is due again after so many seconds, should its claimer have died.
_CLAIMED_FOR = 600.0
_CLAIM = """
    with due as (
        select id from pipimem.visit where workspace = %(workspace)s and due <= now()
        order by due limit %(most)s for update skip locked
    )
    update pipimem.visit set due = now() + %(seconds)s * interval '1 second'
    from due where visit.workspace = %(workspace)s and visit.id = due.id returning visit.id
"""
_SET = """
    insert into pipimem.visit (workspace, id, due)
    values (%(workspace)s, %(id)s, now() + %(seconds)s::float8 * interval '1 second')
    on conflict (workspace, id) do update set due = excluded.due
"""
_TALKED = """
    insert into pipimem.visit (workspace, id, due)
    select %(workspace)s, id, now() + %(seconds)s * interval '1 second'
    from unnest(%(ids)s::text[]) as talked (id)
    on conflict (workspace, id) do update set due = excluded.due
"""
_MARK = """
    insert into pipimem.visit (workspace, id, mark, due)
    select %(workspace)s, id, mark, now() + %(seconds)s * interval '1 second'
    from unnest(%(ids)s::text[], %(marks)s::text[]) as found (id, mark)
    on conflict (workspace, id) do update set
        mark = excluded.mark, due = least(visit.due, excluded.due)
    where visit.mark is distinct from excluded.mark
    returning id
"""
_WAITING = """
    select count(*), min(due) from pipimem.visit
    where workspace = %(workspace)s and due <= now()
"""
# So many marks a statement: 100 KB.
_MARKED_AT_ONCE = 2_000


class Visits(Struct, frozen=True):
    """The due times of the channels of a workspace, by the names of their folders.

    All methods raise `DatabaseUnavailable` where the database does not answer. Only the clock of
    the database counts.
    """

    database: FleetRows
    workspace: str

    def claim(self, most: int) -> list[str]:
        """The folders of up to `most` channels that are due, the longest due first.

        No other host is given them. They are due again after ten minutes unless `set` says
        otherwise.
        """
        values = {"most": most, "seconds": _CLAIMED_FOR}
        return [folder for (folder,) in self._rows(_CLAIM, values)]

    def set(self, folder: str, seconds: float | None) -> None:
        """A channel is due in so many seconds; `None` for not by the clock alone."""
        self._rows(_SET, {"id": folder, "seconds": seconds})

    def put_off(self, folders: Collection[str], seconds: float) -> None:
        """There was talk in these channels: they are due in so many seconds, and not before."""
        self._rows(_TALKED, {"ids": sorted(folders), "seconds": seconds})

    def mark(self, marks: Mapping[str, str], seconds: float) -> list[str]:
        """Channels whose files' mark is another than was noted last are due in so many seconds.

        Returns their folders.
        """
        found: list[str] = []
        folders: Sequence[str] = sorted(marks)
        for start in range(0, len(folders), _MARKED_AT_ONCE):
            some = list(folders[start : start + _MARKED_AT_ONCE])
            values = {
                "seconds": seconds,
                "ids": some,
                "marks": [marks[folder] for folder in some],
            }
            found += [folder for (folder,) in self._rows(_MARK, values)]
        return found

    def waiting(self) -> tuple[int, datetime | None]:
        """How many channels are due by now, and since when the oldest is."""
        ((count, oldest),) = self._rows(_WAITING, {})
        return count, oldest

    def _rows(self, statement: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        return self.database.rows(statement, {**values, "workspace": self.workspace})


def seconds_until(due: datetime, now: datetime) -> float:
    """How long until a time, 0 for one that is over."""
    return max(timedelta(), due - now).total_seconds()


_NAME_BYTES = 8
# The columns of `usage` that are a call's fields, in this order.
_COLUMNS = tuple(name for name in Usage.__struct_fields__ if name != "reason")
_VALUES = ", ".join(f"%({name})s" for name in _COLUMNS)
# One statement, so that rows are numbered in the order in which others see them: who reads up to a
# number has missed none below it.
_INSERT = f"""
    with alone as materialized (select pg_advisory_xact_lock(%(order)s))
    insert into pipimem.usage (workspace, line, at, {", ".join(_COLUMNS)})
    select %(workspace)s, %(line)s, %(at)s, {_VALUES} from alone
    on conflict (workspace, line) do nothing
"""  # noqa: S608 - names of our own columns
_SELECT = f"""
    select id, {", ".join(_COLUMNS)} from pipimem.usage
    where workspace = %(workspace)s and at >= %(since)s and id > %(newest)s order by id
"""  # noqa: S608 - names of our own columns
_PLACE = """
    insert into pipimem.reservation (workspace, name, until, fields)
    values (%(workspace)s, %(name)s, now() + %(seconds)s * interval '1 second', %(fields)s::jsonb)
"""
_HELD = """
    select name, extract(epoch from until - now())::float8, fields from pipimem.reservation
    where workspace = %(workspace)s
"""
_RELEASE = "delete from pipimem.reservation where name = %(name)s returning name"
# The key of an advisory lock, unlike those of other programs: "pipimem" and a number.
_ORDER_LOCK = 0x706970696D656D01


class FleetRows(Protocol):
    """The database, as far as counting needs it."""

    def rows(
        self, statement: str, values: Mapping[str, object] | None = None
    ) -> Sequence[tuple[Any, ...]]:
        """Runs one statement, committed when it returns. Raises `DatabaseUnavailable`."""


@dataclass(slots=True)
class FleetUsage:
    """`UsageStore` of several hosts: budgets, reservations and calls count across all of them.

    `folder` is the `.pipimem/` of a workspace and `workspace` its name in the database, `host` the
    name under which this host's file lies in that folder, `make_lock` makes the
    locks that keep other hosts out.

    Raises `DatabaseUnavailable` where the database does not answer: then no model is asked.
    """

    folder: Path
    workspace: str
    host: str
    database: FleetRows
    make_lock: MakeLock
    # Whether what this host's file has of today was looked for in the database.
    _has_caught_up: bool = False

    def locked(self) -> AbstractContextManager[None]:
        """While it is held, no other process on any host reserves anything."""
        return self.make_lock(self.folder / "usage.lock").held()

    def tail(self, since: datetime) -> FleetTail:
        """Reads the calls of all hosts since a time, then each new one."""
        if not self._has_caught_up:
            self._catch_up(since)
        return FleetTail(self.database, self.workspace, since)

    def append(self, usage: Usage) -> None:
        """Adds a call to this host's file, then to the database."""
        append_quotable(self.folder, usage, self.make_lock, self.host)
        self._insert(usage)

    def held(self) -> dict[str, Reservation]:
        """The reservations of all hosts, by name.

        Their ends are given by this host's clock, whatever the clocks of the others say.
        """
        now = datetime.now().astimezone()
        found = {}
        for name, seconds, values in self.database.rows(_HELD, {"workspace": self.workspace}):
            until = now + timedelta(seconds=seconds)
            reservation = Reservation(**values)
            found[name] = replace(reservation, until=until.isoformat(timespec="seconds"))
        return found

    def place(self, hold: Reservation) -> str:
        """Writes a reservation and returns its name."""
        name = f"{self.host}-{urandom(_NAME_BYTES).hex()}"
        now = datetime.now().astimezone()
        seconds = (local(datetime.fromisoformat(hold.until)) - now).total_seconds()
        values = {
            "workspace": self.workspace,
            "name": name,
            "seconds": seconds,
            "fields": line(encoded(hold)).decode(),
        }
        self.database.rows(_PLACE, values)
        return name

    def release(self, name: str) -> bool:
        """Removes a reservation; whether it was still there."""
        return bool(self.database.rows(_RELEASE, {"name": name}))

    def _catch_up(self, since: datetime) -> None:
        """Gives the database what only this host's file has: calls that ended while it was gone."""
        for usage in host_lines(self.folder, self.host, since):
            self._insert(usage)
        self._has_caught_up = True

    def _insert(self, usage: Usage) -> None:
        bare = replace(usage, reason="")
        mark = blake2b(line(encoded(bare)), digest_size=16).hexdigest()
        values = {
            **{name: getattr(bare, name) for name in _COLUMNS},
            "workspace": self.workspace,
            "order": _ORDER_LOCK,
            "line": mark,
            "at": local(datetime.fromisoformat(usage.time)),
        }
        try:
            self.database.rows(_INSERT, values)
        except PipimemError:
            self._has_caught_up = False
            raise


@dataclass(slots=True)
class FleetTail:
    """The calls of all hosts since a time, each given once."""

    database: FleetRows
    workspace: str
    since: datetime
    _newest: int = field(default=0)

    @property
    def rewritten(self) -> bool:
        """Rows of the database are never rewritten."""
        return False

    def fresh(self) -> list[Usage]:
        """The calls that were not given before."""
        return list(self._fresh())

    def _fresh(self) -> Iterator[Usage]:
        span = {"workspace": self.workspace, "newest": self._newest, "since": self.since}
        for number, *values in self.database.rows(_SELECT, span):
            self._newest = number
            named: Mapping[str, Any] = dict(zip(_COLUMNS, values, strict=True))
            yield Usage(**named)
