"""What budgets are counted by where several hosts share a workspace: tables of the database.

Each host also writes its calls to a `state.db` of its own in `.pipimem/`, which is its record: the
database can be filled again from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from os import urandom
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import PipimemError
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.store.disk.folder_lock import MakeLock
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState
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
_CALLS = f"""
    select id, {", ".join(_COLUMNS)} from pipimem.usage
    where workspace = %(workspace)s and at >= %(since)s and id > %(newest)s
"""  # noqa: S608 - names of our own columns
_SELECT = f"{_CALLS} order by id"
_OF_A_CHANNEL = f"{_CALLS} and channel = %(channel)s order by id"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
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
    name of this host, whose record lies in that folder. `make_lock` makes the locks that keep other
    hosts out.

    Raises `DatabaseUnavailable` where the database does not answer: then no model is asked.
    """

    folder: Path
    workspace: str
    host: str
    database: FleetRows
    make_lock: MakeLock
    # Whether what this host's file has of today was looked for in the database.
    _has_caught_up: bool = False

    @contextmanager
    def locked(self) -> Iterator[FleetUsage]:
        """While it is held, no other process on any host reserves anything."""
        with self.make_lock(self.folder / "usage.lock").held():
            yield self

    def record(self, name: str, usage: Usage | None) -> None:
        """Replaces a reservation by the call it was made for."""
        if usage is not None:
            self.append(usage)
        self.release(name)

    def fresh(self, cursor: UsageCursor) -> list[Usage]:
        """The calls of all hosts behind a cursor, which moves on."""
        if not self._has_caught_up:
            self._catch_up(cursor.since)
        return self._fresh(cursor, _SELECT)

    def usages(self, since: datetime | None = None, channel: str | None = None) -> list[Usage]:
        """The calls of all hosts since a time, for all channels or for one."""
        cursor = UsageCursor(since or _LONG_AGO)
        return self._fresh(cursor, _SELECT if channel is None else _OF_A_CHANNEL, channel)

    def append(self, usage: Usage) -> None:
        """Adds a call to this host's record, then to the database."""
        self._own.append(usage)
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
        for usage in self._own.usages(since):
            self._insert(usage)
        self._has_caught_up = True

    @property
    def _own(self) -> UsageStore:
        return UsageStore(WorkspaceState(self.folder, self.host))

    def _fresh(
        self, cursor: UsageCursor, statement: str, channel: str | None = None
    ) -> list[Usage]:
        values = {"workspace": self.workspace, "newest": cursor.newest, "since": cursor.since}
        found = self.database.rows(statement, {**values, "channel": channel})
        usages = [Usage(**dict(zip(_COLUMNS, fields, strict=True))) for _, *fields in found]
        if found:
            cursor.newest, cursor.last = found[-1][0], usages[-1]
        return usages

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
