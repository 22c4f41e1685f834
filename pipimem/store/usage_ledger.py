"""The usage ledger, a row for each model call, and the reservations of calls under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from msgspec import Struct

from pipimem.errors import DamagedState, LockLost
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.state.usage import OpenLedger
from pipimem.store.workspace_state import WorkspaceState


class UsageStore(Struct, frozen=True):
    """The usage ledger and the reservations of a workspace, shared by all processes.

    A reservation is what a request under way may cost at most. A process that dies leaves it there.
    The methods raise `StoreError`; what they write is durable when they return.
    """

    state: WorkspaceState

    @contextmanager
    def locked(self) -> Iterator[OpenLedger]:
        """Open the ledger for one transaction, in which no other process writes."""
        with self.state.writing() as rows:
            yield OpenLedger(rows)

    def record(self, name: str, usage: Usage | None) -> None:
        """Replace a reservation by the call it was made for, `None` for a call that never left."""
        try:
            self._record(name, usage)
        except (LockLost, DamagedState):  # it was deleted or set aside: a new one takes the call
            self._record(name, usage)

    def _record(self, name: str, usage: Usage | None) -> None:
        with self.locked() as ledger:
            ledger.release(name)
            if usage is not None:
                ledger.append(usage)

    def append(self, usage: Usage) -> None:
        """Add a call."""
        with self.locked() as ledger:
            ledger.append(usage)

    def fresh(self, cursor: UsageCursor) -> list[Usage] | None:
        """Return the calls behind a cursor, which moves on; `None` where it fits no longer."""
        with self.state.reading() as rows:
            if rows is None:
                return [] if cursor.last is None else None
            return OpenLedger(rows).fresh(cursor)

    def held(self) -> dict[str, Reservation]:
        """Return the reservations of all processes, by name."""
        with self.state.reading() as rows:
            return {} if rows is None else OpenLedger(rows).held()

    def usages(self, since: datetime | None = None, channel: str | None = None) -> list[Usage]:
        """Return the calls since a time, of all channels or of one, in the order they ended."""
        with self.state.reading() as rows:
            return [] if rows is None else OpenLedger(rows).usages(since, channel)
