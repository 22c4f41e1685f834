"""When channels of a workspace that several hosts share are due: a table of the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from pipimem.state.postgres import FleetDatabase
from pipimem.state.rows import Row

CLAIMED_FOR = 60.0
"""A channel that was claimed is due again after so many seconds, if its claimer died."""
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
    select count(*), count(*) filter (where due < now() - interval '5 minutes') from pipimem.visit
    where workspace = %(workspace)s and due <= now()
"""
# So many marks a statement: 100 KB.
_MARKED_AT_ONCE = 2_000


class Visits(Struct, frozen=True):
    """The due times of the channels of a workspace, by the names of their folders.

    All methods raise `DatabaseUnavailable` where the database does not answer. Only the clock of
    the database counts.
    """

    database: FleetDatabase
    workspace: str

    def claim(self, most: int) -> list[str]:
        """The folders of up to `most` channels that are due, the longest due first.

        No other host is given them. They are due again after a minute unless `set` says
        otherwise.
        """
        values = {"most": most, "seconds": CLAIMED_FOR}
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

    def waiting(self) -> tuple[int, int]:
        """How many channels are due by now, and how many since five minutes or longer."""
        ((due, late),) = self._rows(_WAITING, {})
        return due, late

    def _rows(self, statement: str, values: Mapping[str, object]) -> list[Row]:
        return self.database.rows(statement, {**values, "workspace": self.workspace})


def seconds_until(due: datetime, now: datetime) -> float:
    """How long until a time, 0 for one that is over."""
    return max(timedelta(), due - now).total_seconds()
