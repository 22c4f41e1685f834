"""The usage ledger: one line for each model call, a file for each month, only appended to."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from pipimem.errors import DatabaseUnavailable, LockTimeout
from pipimem.notes.usage import Reservation, Usage
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.appended_files import KnownParts, KnownPrefix, append
from pipimem.store.disk.folder_lock import FolderLock, MakeLock
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.disk.json_folder import JsonFolder
from pipimem.store.disk.syscalls import make_folder, reading, store_errors
from pipimem.text import json_lines
from pipimem.text.dates.bounds import aware, later
from pipimem.text.json_codec import CodecError, decoded, encoded

_FILES = "usage-*.jsonl"
# A day's lines are looked for from the end in steps of so many bytes: about 700 calls.
_STEP = 256 * 1024
# Lines are written when a call ends, by several processes: none that is this late is missed.
_OUT_OF_ORDER = timedelta(hours=1)
# More tokens than any bill has: a line that says more is damaged, and sums stay exact.
_MOST_TOKENS = 10**12


def append_usage(folder: Path, usage: Usage, host: str = "") -> None:
    """Adds one call to its month, in a workspace's `.pipimem/`; `host` has a file of its own."""
    make_folder(folder)
    month = usage.time[:7] or "unknown"
    append(folder / f"usage-{month}{_suffix(host)}.jsonl", json_lines.line(encoded(usage)))


def host_lines(folder: Path, host: str, since: datetime) -> Iterator[Usage]:
    """The calls since a time in the files of one host; damaged lines are passed over."""
    suffix = _suffix(host)
    for path in _files(folder, since):
        if path.stem.partition("~")[2] != suffix.removeprefix("~"):
            continue
        for data in appended_files.lines(path):
            usage = _usage(data)
            if usage is not None and _at_or_after(usage, since):
                yield usage


def _suffix(host: str) -> str:
    return f"~{host}" if host else ""


def usage_lines(folder: Path, since: datetime | None = None) -> Iterator[Usage | None]:
    """The calls since a time, oldest month first; `None` for each damaged line of these months."""
    for path in _files(folder, since):
        for data in appended_files.lines(path):
            usage = _usage(data)
            if usage is None or since is None or _at_or_after(usage, since):
                yield usage


class Tail(Struct):
    """The calls since a time, each given once, whichever process appended it."""

    folder: Path
    since: datetime
    _read: KnownParts = field(default_factory=KnownParts)

    @property
    def rewritten(self) -> bool:
        """Whether the files were rewritten: only a new `Tail` helps."""
        return not self._read.still_stand(_files(self.folder, self.since))

    def fresh(self) -> list[Usage]:
        """The calls that were not given before; a line still being written is left out."""
        paths = _files(self.folder, self.since)
        for path in paths[len(self._read.prefixes) :]:
            start = _start(path, later(self.since, -_OUT_OF_ORDER))
            self._read.prefixes.append(KnownPrefix(start, start))
        usages = (_usage(data) for _, _, data in self._read.fresh(paths))
        return [usage for usage in usages if usage is not None and _at_or_after(usage, self.since)]


def _files(folder: Path, since: datetime | None) -> list[Path]:
    # Months are named in the local time of the call: a day of grace for other time zones.
    first = ""
    if since:
        first = f"usage-{later(since, -timedelta(days=1)):%Y-%m}"
    with store_errors("read", folder):
        return [path for path in sorted(folder.glob(_FILES)) if path.stem >= first]


def _start(path: Path, since: datetime) -> int:
    """A line's start before which no line is as new as `since`."""
    with store_errors("read", path), reading(path) as file:
        start = max(0, file.seek(0, os.SEEK_END) - _STEP)
        while start:
            file.seek(start)
            file.readline()  # the rest of a line that begins before
            begin = file.tell()
            oldest = next(filter(None, map(_usage, file)), None)
            if oldest is not None and not _at_or_after(oldest, since):
                return begin
            start = max(0, start - _STEP)
    return 0


def _usage(data: bytes) -> Usage | None:
    """The call on a line; `None` where it is damaged, or has numbers that no bill has."""
    try:
        usage = decoded(Usage, json_lines.value(data))
    except CodecError:
        return None
    counts = (usage.tokens_in, usage.tokens_out, usage.tokens_cached)
    estimates = (usage.estimated_in, usage.estimated_out)
    amounts = (usage.cost or 0, usage.estimated_cost or 0, usage.latency)
    if not all(0 <= count <= _MOST_TOKENS for count in (*counts, *estimates)):
        return None
    if not all(0 <= amount < math.inf for amount in amounts):
        return None
    return usage if _when(usage.time) is not None else None


def _when(time: str) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(time))
    except ValueError:
        return None


def _at_or_after(usage: Usage, since: datetime) -> bool:
    when = _when(usage.time)
    return when is not None and when >= since


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
            safe = _is_safe(own)
        except (LockTimeout, DatabaseUnavailable):
            safe = False
        yield usage if safe else replace(usage, reason=UNQUOTED)


def _is_safe(own: Path) -> bool:
    """Whether nothing was forgotten in the channel in the hour before the call."""
    # The channel's own state knows it; until the reasons are in the state, too, none is written.
    return not presence.exists(own / "state.db")
