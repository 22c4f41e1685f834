"""Leases in the database: who holds a lock, under which number, until when.

Only the clock of the database says when a lease is over for others. The number of a lease, its
fence, grows with each holder.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from pipimem.errors import DatabaseUnavailable, LockLost, LockTimeout
from pipimem.state.postgres import FleetDatabase, lost

# Renewed so often within its time, a lease outlives one lost request.
_RENEWALS = 3
# Who waits counts as waiting for so long after it last asked; seconds.
_WAITING = 1.0

_TAKE = """
insert into pipimem.lease as lease (id, fence, holder, last_holder, until)
values (%(id)s, 1, %(me)s, %(me)s, clock_timestamp() + %(seconds)s * interval '1 second')
on conflict (id) do update set
    fence = lease.fence + 1, holder = %(me)s, last_holder = %(me)s, waiter = '',
    until = clock_timestamp() + %(seconds)s * interval '1 second',
    taken_over = lease.taken_over or lease.holder not in ('', %(me)s)
where (lease.holder in ('', %(me)s) or lease.until < clock_timestamp())
    and (lease.waiter in ('', %(me)s) or lease.waiting_until < clock_timestamp())
returning fence, taken_over
"""
_WAIT = """
update pipimem.lease
set waiter = %(me)s, waiting_until = clock_timestamp() + %(waiting)s * interval '1 second'
where id = %(id)s and (waiter in ('', %(me)s) or waiting_until < clock_timestamp())
"""
_RENEW = """
update pipimem.lease set until = clock_timestamp() + %(seconds)s * interval '1 second'
from unnest(%(ids)s::text[], %(fences)s::bigint[]) as held (id, fence)
where lease.id = held.id and lease.fence = held.fence and lease.holder = %(me)s
returning lease.id, waiter <> '' and waiting_until > clock_timestamp()
"""
_CHECK = """
select until > clock_timestamp() from pipimem.lease
where id = %(id)s and fence = %(fence)s and holder = %(me)s
"""
# The number of writings makes others read again what was written under the lock.
_GIVE_BACK = """
update pipimem.lease
set holder = '', taken_over = taken_over and not %(cleaned)s, writes = writes + %(written)s
where id = %(id)s and fence = %(fence)s and holder = %(me)s
"""


def awake_seconds() -> float:
    """Return seconds on a clock that nobody sets, and that goes on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@dataclass(slots=True)
class WriteLease:
    """A lock that is ours until `until`, by `awake_seconds`.

    `taken_over`: a holder before did not give it back, and may still be writing, unless
    `is_cleaned`. `has_written` is whether anything was written under it.
    """

    id: str
    fence: int
    taken_over: bool
    until: float
    is_cleaned: bool = False
    has_written: bool = False


@dataclass(slots=True)
class Leases:
    """The leases of one process, renewed by a thread as long as they are held.

    `owner` names the process among all hosts.
    """

    database: FleetDatabase
    owner: str
    seconds: float
    _held: dict[str, WriteLease] = field(default_factory=dict)
    # What to call, by the name of a lock, when another host waits for it.
    _stops: dict[str, Callable[[], object]] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _renewer: threading.Thread | None = None

    def take(self, name: str) -> WriteLease | None:
        """Return the lease of a lock, `None` where another host has it: then we wait in line.

        At most one thread of this process asks for a lock, or has it. Raises `DatabaseUnavailable`.
        """
        sent = awake_seconds()
        values = {"id": name, "me": self.owner, "seconds": self.seconds, "waiting": _WAITING}
        with suppress(LockTimeout):  # a transaction of the holder is under way
            for fence, taken_over in self.database.rows(_TAKE, values):
                return WriteLease(name, fence, taken_over, sent + self.seconds)
            self.database.rows(_WAIT, values)
        return None

    def check(self, lease: WriteLease) -> None:
        """Raise `LockLost` where another host has the lock, or may have it at any instant.

        Where the database does not answer the clock of this host decides.
        """
        values = {"id": lease.id, "fence": lease.fence, "me": self.owner}
        try:
            found = self.database.rows(_CHECK, values)
            if found == [(False,)] and self._renewed([lease]):
                found = [(True,)]
        except (DatabaseUnavailable, LockTimeout):
            found = [(awake_seconds() < lease.until,)]
        if found != [(True,)]:
            raise LockLost(lost(lease.id))

    @contextmanager
    def kept(self, lease: WriteLease) -> Iterator[None]:
        """Renew a lease while this lasts, then give it back.

        Where the database does not answer then, it is over by itself some seconds later.
        """
        with self._changed:
            self._held[lease.id] = lease
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
                del self._held[lease.id]
            self._give_back(lease)

    @contextmanager
    def stopping(self, name: str, stop: Callable[[], object]) -> Iterator[None]:
        """Call `stop` while this lasts when another host waits for a lock that is held here."""
        self._stops[name] = stop
        try:
            yield
        finally:
            del self._stops[name]

    def _give_back(self, lease: WriteLease) -> None:
        values = {
            "id": lease.id,
            "fence": lease.fence,
            "me": self.owner,
            "cleaned": lease.is_cleaned,
            "written": int(lease.has_written),
        }
        with suppress(DatabaseUnavailable, LockTimeout):
            self.database.rows(_GIVE_BACK, values)

    def _renew_while_held(self) -> None:
        while True:
            with self._changed:
                if not self._held and not self._changed.wait(self.seconds * 10):
                    self._renewer = None
                    return
            time.sleep(self.seconds / _RENEWALS)
            with self._changed:
                held = list(self._held.values())
            with suppress(DatabaseUnavailable, LockTimeout):
                self._renewed(held)

    def _renewed(self, held: list[WriteLease]) -> bool:
        """Renew leases; return whether all are ours still."""
        if not held:
            return True
        sent = awake_seconds()
        values = {
            "seconds": self.seconds,
            "me": self.owner,
            "ids": [lease.id for lease in held],
            "fences": [lease.fence for lease in held],
        }
        renewed: dict[str, bool] = dict(self.database.rows(_RENEW, values))
        for lease in held:
            if lease.id in renewed:
                lease.until = max(lease.until, sent + self.seconds)
            if renewed.get(lease.id) and lease.id in self._stops:
                with suppress(RuntimeError, CancelledError):  # its event loop may be closed by now
                    self._stops[lease.id]()
        return len(renewed) == len(held)
