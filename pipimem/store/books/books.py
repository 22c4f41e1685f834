"""The books of a workspace: its usage ledger, the holds of requests under way, and the lock that orders them."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from pipimem.notes.usage import Hold, Usage
from pipimem.store.books.quoting import quotable
from pipimem.store.books.usage_ledger import Tail, UsageLedger
from pipimem.store.codec import decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import make_folder, read_whole, told
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.lock import FolderLock

_SUFFIX = ".json"
_NAME_BYTES = 8


class Books:
    """What budgets are counted by, in `.pipimem/`; every process on the workspace keeps the same ones.

    A hold is what a request under way may cost: a small file in `holds/`, left behind by a process that dies.
    """

    __slots__ = ("_folder", "_holds", "_lock")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holds = folder / "holds"
        self._lock = FolderLock(folder / "usage.lock")

    def locked(self) -> AbstractContextManager[None]:
        """While it lasts, no other process reserves anything. Raises `StoreError`."""
        make_folder(self._folder)
        return self._lock.held()

    def tail(self, since: datetime) -> Tail:
        """The calls since a time, then each new one."""
        return UsageLedger(self._folder).tail(since)

    def append(self, usage: Usage) -> None:
        """One more line of the ledger; its reason only where it cannot quote what was forgotten meanwhile."""
        with quotable(self._folder.parent / "channels", usage) as told:
            UsageLedger(self._folder).append(told)

    def held(self) -> dict[str, Hold]:
        """The holds of all processes, by name; a file that is no hold is passed over."""
        with told("read", self._holds):
            try:
                paths = [path for path in self._holds.iterdir() if path.suffix == _SUFFIX]
            except FileNotFoundError:
                return {}
        found = {path.stem: _hold(path) for path in paths}
        return {name: hold for name, hold in found.items() if hold}

    def place(self, hold: Hold) -> str:
        """Puts a hold on the disk and gives its name, which does not come again.

        Not synced: it matters when a process dies, not a machine. Raises `StoreError`.
        """
        make_folder(self._holds)
        # Never twice: whoever takes it for abandoned leaves the name to nobody, and in containers numbers are the same.
        name = f"{os.getpid()}-{os.urandom(_NAME_BYTES).hex()}"
        put_whole(self._path(name), jsonlines.line(encoded(hold)), synced=False)
        return name

    def release(self, name: str) -> bool:
        """Takes a hold away; whether it was still there."""
        with told("remove", self._path(name)):
            try:
                self._path(name).unlink()
            except FileNotFoundError:
                return False
        return True

    def _path(self, name: str) -> Path:
        return self._holds / (name + _SUFFIX)


def _hold(path: Path) -> Hold | None:
    try:
        hold = decoded(Hold, jsonlines.value(read_whole(path)))
        has_offset = datetime.fromisoformat(hold.until).tzinfo is not None
    except (FileNotFoundError, ValueError):  # released meanwhile; no hold, or no time
        return None
    return hold if has_offset else None
