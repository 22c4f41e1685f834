"""When each channel is next due, in the table `channel`, claimed by one host at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipimem.store.fleet.usage import Rows

# A channel that was claimed is due again after so many seconds, should its claimer have died.
_CLAIMED_FOR = 600.0
_CLAIM = """
    with due as (
        select id from channel where due <= now() order by due limit %s for update skip locked
    )
    update channel set due = now() + make_interval(secs => %s)
    from due where channel.id = due.id returning channel.id
"""

_SET = """
    insert into channel (id, due) values (%s, now() + make_interval(secs => %s))
    on conflict (id) do update set due = excluded.due
"""
_BRING_FORWARD = """
    insert into channel (id, due) values (%s, now() + make_interval(secs => %s))
    on conflict (id) do update set due = least(channel.due, excluded.due)
"""
_MARK = """
    insert into channel (id, mark, due)
    select id, mark, now() + make_interval(secs => %s)
    from unnest(%s::text[], %s::text[]) as found (id, mark)
    on conflict (id) do update set
        mark = excluded.mark,
        due = case when channel.mark is distinct from excluded.mark
            then least(channel.due, excluded.due) else channel.due end
    where channel.mark is distinct from excluded.mark
    returning id
"""
# So many marks a statement: 100 KB.
_MARKED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Visits:
    """The due times of a workspace's channels, by the names of their folders.

    All methods raise `StoreError` where the database cannot be reached. Only the clock of the
    database counts.
    """

    database: Rows

    def claim(self, most: int) -> list[str]:
        """The folders of up to `most` channels that are due, the longest due first.

        No other host is given them. They are due again after ten minutes unless `set` says
        otherwise.
        """
        return [folder for (folder,) in self.database.rows(_CLAIM, (most, _CLAIMED_FOR))]

    def set(self, folder: str, seconds: float | None) -> None:
        """A channel is due in so many seconds; `None` for not by the clock alone."""
        if seconds is None:
            self.database.rows("update channel set due = null where id = %s", (folder,))
        else:
            self.database.rows(_SET, (folder, seconds))

    def bring_forward(self, folder: str, seconds: float) -> None:
        """A channel is due in so many seconds, or before."""
        self.database.rows(_BRING_FORWARD, (folder, seconds))

    def mark(self, marks: Mapping[str, str], seconds: float) -> list[str]:
        """Channels whose files' mark is another than was noted last are due in so many seconds.

        Returns their folders.
        """
        found: list[str] = []
        folders: Sequence[str] = sorted(marks)
        for start in range(0, len(folders), _MARKED_AT_ONCE):
            some = list(folders[start : start + _MARKED_AT_ONCE])
            values = (seconds, some, [marks[folder] for folder in some])
            found += [folder for (folder,) in self.database.rows(_MARK, values)]
        return found

    def waiting(self) -> tuple[int, datetime | None]:
        """How many channels are due by now, and since when the oldest is."""
        ((count, oldest),) = self.database.rows(
            "select count(*), min(due) from channel where due <= now()"
        )
        return count, oldest


def seconds_until(due: datetime, now: datetime) -> float:
    """How long until a time, 0 for one that is over."""
    return max(timedelta(), due - now).total_seconds()
