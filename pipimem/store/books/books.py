"""The books of a workspace: its usage ledger, the holds of requests under way, and the lock that orders them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from pipimem.notes.usage import Hold, Usage
from pipimem.store.books.holds import Holds
from pipimem.store.books.quoting import quotable
from pipimem.store.books.usage_ledger import Tail, UsageLedger
from pipimem.store.disk.calls import make_folder
from pipimem.store.disk.lock import FolderLock


class Books:
    """What budgets are counted by, in `.pipimem/`; every process on the workspace keeps the same ones."""

    __slots__ = ("_folder", "_holds", "_ledger", "_lock")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ledger = UsageLedger(folder)
        self._holds = Holds(folder / "holds")
        self._lock = FolderLock(folder / "usage.lock")

    def locked(self) -> AbstractContextManager[None]:
        """While it lasts, no other process reserves anything. Raises `StoreError`."""
        make_folder(self._folder)
        return self._lock.held()

    def tail(self, since: datetime) -> Tail:
        """The calls since a time, then each new one."""
        return self._ledger.tail(since)

    def append(self, usage: Usage) -> None:
        """One more line of the ledger; its reason only where it cannot quote what was forgotten meanwhile."""
        with quotable(self._folder.parent / "channels", usage) as told:
            self._ledger.append(told)

    def held(self) -> dict[str, Hold]:
        """The holds of all processes, by name."""
        return self._holds.held()

    def place(self, hold: Hold) -> str:
        """One more hold; gives its name."""
        return self._holds.place(hold)

    def release(self, name: str) -> bool:
        """Takes a hold away; whether it was still there."""
        return self._holds.release(name)
