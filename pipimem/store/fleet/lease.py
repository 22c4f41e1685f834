"""Leases in the database: who holds a lock, under which fence, until when.

Only the database's clock says when a lease is over for others. For its holder the holder's own
clock does: it counts from before the request was sent, and goes on while the machine sleeps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipimem.errors import DatabaseUnavailable
from pipimem.store.fleet.database import FleetDatabase
from pipimem.store.fleet.listener import Notice, listeners_of

# Renewed so often within its time, a lease outlives one lost request.
_RENEWALS = 3
# Who waits counts as waiting for so long after it last asked; seconds.
_WAITING = 1.0

# `floor` is the number of the fence that lies in the folder: a database that was set up anew begins
# above it.
_ACQUIRE = """
insert into pipimem.channel as c (id, fence, owner, attempt, held, taken_over, until)
values (%(id)s, %(floor)s + 1, %(me)s, %(attempt)s, true, %(floor)s > 0,
        clock_timestamp() + %(lease)s * interval '1 second')
on conflict (id) do update set
    (fence, owner, attempt, held, taken_over, until, next_owner, next_until) = (
        select
            case when free and (c.owner <> %(me)s or %(floor)s > c.fence)
                 then greatest(c.fence, %(floor)s) + 1 else c.fence end,
            case when free then %(me)s else c.owner end,
            case when free then %(attempt)s else c.attempt end,
            c.held or free,
            case when free then c.taken_over or (c.held and c.owner <> %(me)s)
                                or %(floor)s > c.fence
                 else c.taken_over end,
            case when free then t + %(lease)s * interval '1 second' else c.until end,
            case when free then '' when waits then %(me)s else c.next_owner end,
            case when free then '-infinity' when waits
                 then t + %(waiting)s * interval '1 second' else c.next_until end
        from (select clock_timestamp() as t) as clock,
        lateral (select c.next_owner in ('', %(me)s) or c.next_until < t as waits) as queue,
        lateral (select waits and (not c.held or c.owner = %(me)s or c.until < t) as free) as lock
    )
returning fence, taken_over, attempt = %(attempt)s
"""
# The same statement gives others notice of what was written: nobody has to look.
_RELEASE = """
with given_back as (
    update pipimem.channel set held = false, taken_over = taken_over and not %(planted)s
    where id = %(id)s and owner = %(me)s and attempt = %(attempt)s
)
select pg_notify(%(listeners)s, notice) from unnest(%(notices)s::text[]) as due (notice)
"""
_WANT = "select pg_notify(%(listeners)s, %(notice)s)"
_RENEW = """
update pipimem.channel set until = clock_timestamp() + %(lease)s * interval '1 second'
where owner = %(me)s and held and attempt = any(%(attempts)s)
returning attempt
"""


def awake_seconds() -> float:
    """Seconds on a clock that nobody sets, and that goes on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@dataclass(slots=True)
class WriteLease:
    """A lock that is ours until `until`, by `awake_seconds`.

    `taken_over`: an owner before did not give it back. `written` is the newest record that was
    written under it, 0 for other writing, and `None` where nothing was.
    """

    id: str
    attempt: str
    fence: int
    taken_over: bool
    until: float
    is_planted: bool = False
    written: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether others may have it."""
        return awake_seconds() >= self.until


@dataclass(slots=True)
class Leases:
    """The leases of one process, renewed by a thread as long as they are held."""

    database: FleetDatabase
    owner: str
    seconds: float
    _held: dict[str, WriteLease] = field(default_factory=dict)
    # Notices that the database has not taken yet, by the lock's name.
    _unsent_notices: dict[str, str] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _renewer: threading.Thread | None = None

    def ask(self, name: str, attempt: str, floor: int) -> WriteLease | None:
        """The lease, `None` where another one has it: then we wait for it in line.

        `attempt` names this asking alone. Raises `DatabaseUnavailable`.
        """
        sent = awake_seconds()
        values = {
            "id": name,
            "floor": floor,
            "me": self.owner,
            "attempt": attempt,
            "lease": self.seconds,
            "waiting": _WAITING,
        }
        [(fence, taken_over, is_ours)] = self.database.rows(_ACQUIRE, values)
        return (
            WriteLease(name, attempt, fence, taken_over, sent + self.seconds) if is_ours else None
        )

    def notify_of_waiting(self, name: str) -> None:
        """Notifies the holder of a lock that somebody waits. Raises `DatabaseUnavailable`."""
        notice = Notice(self.owner, name, 0).payload
        self.database.rows(_WANT, {"listeners": listeners_of(name), "notice": notice})

    @contextmanager
    def kept(self, lease: WriteLease) -> Iterator[None]:
        """Renews a lease while this lasts, then gives it back.

        Where the database does not answer then, it is over by itself some seconds later.
        """
        with self._changed:
            self._held[lease.attempt] = lease
            if self._renewer is None or not self._renewer.is_alive():
                self._renewer = threading.Thread(
                    target=self._renew_while_held, name="pipimem leases", daemon=True
                )
                self._renewer.start()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._held[lease.attempt]
            self._give_back(lease)

    def _give_back(self, lease: WriteLease) -> None:
        with self._changed:
            if lease.written is not None:
                self._unsent_notices[lease.id] = Notice(self.owner, lease.id, lease.written).payload
            unsent = dict(self._unsent_notices)
        values = {
            "id": lease.id,
            "me": self.owner,
            "attempt": lease.attempt,
            "planted": lease.is_planted,
            "listeners": listeners_of(lease.id),
            "notices": list(unsent.values()),
        }
        try:
            self.database.rows(_RELEASE, values)
        except DatabaseUnavailable:
            return  # what was written under the lease is written; the notice goes out later
        with self._changed:
            for name, notice in unsent.items():
                if self._unsent_notices.get(name) == notice:
                    del self._unsent_notices[name]

    def _renew_while_held(self) -> None:
        while True:
            with self._changed:
                if not self._held and not self._changed.wait(self.seconds * 10):
                    self._renewer = None
                    return
            time.sleep(self.seconds / _RENEWALS)
            self._renew()

    def _renew(self) -> None:
        with self._changed:
            held = list(self._held.values())
        if not held:
            return
        sent = awake_seconds()
        values = {
            "lease": self.seconds,
            "me": self.owner,
            "attempts": [lease.attempt for lease in held],
        }
        try:
            renewed = {row[0] for row in self.database.rows(_RENEW, values)}
        except DatabaseUnavailable:
            return
        for lease in held:
            if lease.attempt in renewed:
                lease.until = max(lease.until, sent + self.seconds)
