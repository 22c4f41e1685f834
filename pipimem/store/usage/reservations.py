"""What budgets are counted by: the usage ledger, and reservations of requests under way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.errors import DatabaseUnavailable, JournalError, LockTimeout
from pipimem.notes.usage import Reservation, Usage
from pipimem.store.disk import presence
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.disk.json_folder import JsonFolder
from pipimem.store.disk.syscalls import make_folder
from pipimem.store.disk.write_lock import MakeLock
from pipimem.store.journal import checkpoint as ledger_file
from pipimem.store.journal.journal import Journal
from pipimem.store.usage.ledger import Tail, append_usage
from pipimem.text.dates.bounds import local

_NAME_BYTES = 8
# A task asks models several times about what it read at its beginning; none lasts longer.
_LONGEST_CALL = timedelta(hours=1)
# A commit takes milliseconds; nobody should wait longer for the words of a reason.
_LOCK_SECONDS = 0.2
UNQUOTED = "not kept: something was forgotten in this channel meanwhile"


class UsageStore:
    """The usage ledger and the reservations in a workspace's `.pipimem/`, shared by all processes.

    A reservation is what a request under way may cost at most: a small file in `holds/`, which a
    process that dies leaves behind.
    """

    __slots__ = ("_folder", "_holds", "_lock", "_make_lock")

    def __init__(self, folder: Path, make_lock: MakeLock = FolderLock) -> None:
        self._folder, self._make_lock = folder, make_lock
        self._holds = JsonFolder(folder / "holds", Reservation)
        self._lock = make_lock(folder / "usage.lock")

    def locked(self) -> AbstractContextManager[None]:
        """While it is held, no other process reserves anything. Raises `StoreError`."""
        make_folder(self._folder)
        return self._lock.held()

    def tail(self, since: datetime) -> Tail:
        """Reads the calls since a time, then each new one."""
        return Tail(self._folder, since)

    def append(self, usage: Usage) -> None:
        """Adds a line to the ledger, without a reason that may quote what was forgotten since."""
        append_quotable(self._folder, usage, self._make_lock)

    def held(self) -> dict[str, Reservation]:
        """The reservations of all processes, by name; damaged ones are passed over."""
        return {name: hold for name, hold in self._holds.all().items() if _has_time(hold)}

    def place(self, hold: Reservation) -> str:
        """Writes a reservation and returns its name. Raises `StoreError`."""
        # No name comes twice: in containers the process numbers are the same.
        name = f"{os.getpid()}-{os.urandom(_NAME_BYTES).hex()}"
        self._holds.put(name, hold)
        return name

    def release(self, name: str) -> bool:
        """Removes a reservation; whether it was still there."""
        return self._holds.remove(name)


def append_quotable(
    folder: Path, usage: Usage, make_lock: MakeLock = FolderLock, host: str = ""
) -> None:
    """Adds a line to the ledger, without a reason that may quote what was forgotten since."""
    with quotable(folder.parent / "channels", usage, make_lock) as safe:
        append_usage(folder, safe, host)


def _has_time(hold: Reservation) -> bool:
    try:
        return datetime.fromisoformat(hold.until).tzinfo is not None
    except ValueError:
        return False


@contextmanager
def quotable(channels: Path, usage: Usage, make_lock: MakeLock = FolderLock) -> Iterator[Usage]:
    """The call to be written while this lasts, without a reason that may quote what was forgotten.

    The reason is left out, too, where another process holds the channel's lock.
    """
    if not usage.reason or not usage.channel:
        yield usage
        return
    own = channels / folder_name(usage.channel) / ".pipimem"
    if not any(presence.exists(own / name) for name in ("lock", "fence")):
        yield usage
        return
    with ExitStack() as held:
        try:
            # A forgetting holds this lock from its first look at the ledger to its end.
            held.enter_context(make_lock(own / "lock").held(_LOCK_SECONDS))
            safe = _is_safe(own, usage)
        except (LockTimeout, DatabaseUnavailable):
            safe = False
        yield usage if safe else replace(usage, reason=UNQUOTED)


def _is_safe(own: Path, usage: Usage) -> bool:
    """Whether nothing was forgotten in the channel in the hour before the call."""
    if presence.exists(own / "forget.json"):  # cut off, and not finished yet
        return False
    checkpoint = ledger_file.load(own / "ledger.json")
    if checkpoint is None or not checkpoint.ledger.forgotten:
        return True
    try:
        forgettings = [record.time for record in Journal(own).records() if record.task == "forget"]
    except JournalError:
        return False
    if not forgettings:
        return True
    now, then = (local(datetime.fromisoformat(time)) for time in (usage.time, forgettings[-1]))
    return now - then > _LONGEST_CALL
