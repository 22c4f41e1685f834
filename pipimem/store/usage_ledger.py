"""The usage ledger, a row for each model call, and the reservations of calls under way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from msgspec import Struct

from pipimem.errors import DamagedState, LockLost
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.state import usage as calls
from pipimem.state.rows import Rows
from pipimem.store.workspace_state import WorkspaceState

_NAME_BYTES = 8


class OpenLedger(Struct, frozen=True):
    """The ledger and the reservations within one transaction."""

    rows: Rows

    def fresh(self, cursor: UsageCursor) -> list[Usage] | None:
        """Return the calls behind a cursor, which moves on; `None` where it fits no longer."""
        return calls.fresh_usages(self.rows, cursor)

    def append(self, usage: Usage) -> None:
        """Add a call."""
        calls.add_usages(self.rows, [usage])

    def held(self) -> dict[str, Reservation]:
        """Return the reservations of all processes, by name."""
        return calls.reservations(self.rows)

    def place(self, hold: Reservation) -> str:
        """Add a reservation; return its name."""
        # No name comes twice: in containers the process numbers are the same.
        name = f"{os.getpid()}-{os.urandom(_NAME_BYTES).hex()}"
        calls.add_reservation(self.rows, name, hold)
        return name

    def release(self, name: str) -> bool:
        """Remove a reservation; return whether it was there."""
        return calls.remove_reservation(self.rows, name)


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
            return calls.fresh_usages(rows, cursor)

    def held(self) -> dict[str, Reservation]:
        """Return the reservations of all processes, by name."""
        with self.state.reading() as rows:
            return {} if rows is None else calls.reservations(rows)

    def usages(self, since: datetime | None = None, channel: str | None = None) -> list[Usage]:
        """Return the calls since a time, of all channels or of one, in the order they ended."""
        with self.state.reading() as rows:
            return [] if rows is None else calls.usages_since(rows, since, channel)
