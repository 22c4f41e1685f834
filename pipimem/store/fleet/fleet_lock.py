"""The locks of a workspace that several hosts share: leases in the database."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from pipimem.errors import LockLost, StoreError
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.settings import FleetSettings
from pipimem.state.channel_state import SCHEMA
from pipimem.state.lease import Leases, WriteLease
from pipimem.state.postgres import FleetDatabase, HeldFence, PostgresDatabase
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.fencing import (
    HALF,
    check_fence,
    fenced_by,
    holds,
    revalidate,
    under_job_fence,
)
from pipimem.store.disk.files import (
    TEMPORARY,
    prepare,
    put_whole,
    real_path,
    remove,
    temporary_for,
)
from pipimem.store.disk.folder_lock import lock_timeout
from pipimem.store.disk.syscalls import make_folder, read_if_there, store_errors, sync_folder
from pipimem.store.fleet.visits import Visits
from pipimem.store.transcript.spool import TalkSpool
from pipimem.store.workspace_state import WORKSPACE
from pipimem.text.json_lines import checked_line, checked_value

# An older name for a job, kept: a host that called the lock otherwise would not exclude one that
# did not.
JOB_LOCK = "thought.lock"
"""The lock under which one host at a time does the jobs of a channel, a model's among them."""
_WRITE_LOCK = "lock"
# What is appended to under the lock of a channel.
_APPENDED = ("log.jsonl", File.ARCHIVE)
# The files of a channel that other hosts change.
_FILES = (*NOTE_FILES, *_APPENDED, ".pipimem/channel.json", ".pipimem/spool")
_NAME = "fleet.json"
_WORKSPACE_BYTES = 8


def joined(root: Path, settings: FleetSettings) -> Fleet:
    """Return the fleet of a workspace; the database is asked at the first lock, not here.

    Raises `StoreError`.
    """
    own = root / ".pipimem"
    name = _name(own) or _named(own)
    seconds = settings.lease_seconds
    return Fleet(root, name, FleetDatabase(settings.database, seconds / 2), seconds)


def _name(own: Path) -> str:
    value = checked_value(read_if_there(own / _NAME) or b"") or {}
    return str(value.get("workspace", ""))


def _named(own: Path) -> str:
    """Give a workspace a name; where several hosts do at once, all get that of the fastest."""
    make_folder(own)
    draft = temporary_for(own / _NAME, os.urandom(_WORKSPACE_BYTES).hex())
    line = checked_line({"workspace": os.urandom(_WORKSPACE_BYTES).hex()})
    prepare(draft, own / _NAME, line.decode())
    try:
        put_new(draft, own / _NAME)
    except FileExistsError:
        remove(draft)
    sync_folder(own)
    name = _name(own)
    if not name:
        raise StoreError(f"{own / _NAME} is damaged. Put it back from a backup.")
    return name


_NAME_BYTES = 6
_LONGEST_HOST = 64


@dataclass(slots=True)
class Fleet:
    """This process among those of several hosts that share a workspace.

    `name` is that of the workspace in the database.
    """

    root: Path
    name: str
    database: FleetDatabase
    lease_seconds: float
    _leases: Leases | None = None
    _process: int = 0
    _threads: dict[str, threading.Lock] = field(default_factory=dict)
    # By the name of a lock the number of the hold that this process had last.
    fences: dict[str, int] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        """The name of this host, as part of a file's name."""
        return re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:_LONGEST_HOST] or "host"

    def lock(self, path: Path) -> FleetLock:
        """Return the lock that on one host is the file at `path`."""
        return FleetLock(self, path)

    def hold_job_lock(self, folder: Path, timeout: float) -> HeldLock:
        """Take the lock of the jobs of the channel in a folder: one host at a time has it.

        Raises `LockTimeout` after `timeout` seconds, and `DatabaseUnavailable`.
        """
        return self.lock(folder / ".pipimem" / JOB_LOCK).taken(timeout)

    def job_lock_name(self, folder: str) -> str:
        """Return the name of the job lock of a channel, by the name of its folder."""
        return f"{self.name}/{folder}/{JOB_LOCK}"

    def database_of(self, own: Path, channel_id: str, key: bytes) -> PostgresDatabase:
        """Return the rows of the channel whose `.pipimem/` is `own`."""
        before = SqliteDatabase(own / "state.db", SCHEMA, channel_id)
        person = blake2b(channel_id.encode("utf-8", "surrogatepass"), digest_size=16, key=key)
        name = self.lock_name(own / _WRITE_LOCK)
        return PostgresDatabase(
            self.database, SCHEMA, name, person.digest(), before, lambda: _held(name)
        )

    def workspace_database(self) -> PostgresDatabase:
        """Return the rows of the workspace: usage, reservations, failures of jobs."""
        before = SqliteDatabase(self.root / ".pipimem" / "state.db", WORKSPACE)
        return PostgresDatabase(self.database, WORKSPACE, f"{self.name}/workspace", b"", before)

    def make_tables(self) -> None:
        """Make the tables where they are missing. Raises `DatabaseUnavailable`."""
        self.database.create(SCHEMA, WORKSPACE)

    def revalidate(self, folder: Path) -> None:
        """Have the file system ask its server for the files of a channel."""
        revalidate(tuple(folder / name for name in _FILES))

    @property
    def visits(self) -> Visits:
        """When channels of the workspace are due, by all hosts."""
        return Visits(self.database, self.name)

    @property
    def leases(self) -> Leases:
        """The leases of this process; after a fork those of another one."""
        with self._mutex:
            if self._leases is None or self._process != os.getpid():
                self._process, self._threads = os.getpid(), {}
                number = f"{os.getpid()}-{os.urandom(_NAME_BYTES).hex()}"
                owner = f"{socket.gethostname()}-{number}"
                self._leases = Leases(self.database, owner, self.lease_seconds)
            return self._leases

    def spool_in(self, folder: Path) -> TalkSpool:
        """Return where talk waits while the channel in a folder cannot be written to."""
        return TalkSpool(folder / ".pipimem" / "spool", self.leases.owner)

    def lock_name(self, path: Path) -> str:
        """Return what a lock is called in the database: names of folders, no texts."""
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        parts = [part for part in inside.parts if part not in ("channels", ".pipimem")]
        return "/".join((self.name, *parts))

    def thread_lock(self, name: str) -> threading.Lock:
        """Return what orders the threads of this process that want one lock."""
        with self._mutex:
            return self._threads.setdefault(name, threading.Lock())


def _held(name: str) -> Sequence[HeldFence]:
    """Return what this thread holds, if the lock of a name is the first of it."""
    held = [HeldFence(hold.name, hold.fence) for hold in holds()]
    return held if held and held[0].name == name else ()


@dataclass(frozen=True, slots=True)
class LeaseHold:
    """A lock of several hosts that is held by a lease."""

    leases: Leases
    lease: WriteLease
    stem: str

    @property
    def name(self) -> str:
        """The lock's name in the database."""
        return self.lease.id

    @property
    def fence(self) -> int:
        """Greater than that of every holder before."""
        return self.lease.fence

    @property
    def draft_tag(self) -> str:
        """The tag of drafts, by which the next holder knows those of this one."""
        return f"{HALF}-{self.stem}-{self.fence}"

    def check(self) -> None:
        """Raise `LockLost` where another host may have the lock. Writing follows."""
        self.leases.check(self.lease)
        self.lease.has_written = True


class HeldLock(Struct, frozen=True):
    """A lock that is ours until `give_back`, whichever thread calls it."""

    fence: LeaseHold
    _stack: ExitStack

    def give_back(self) -> None:
        """Give it back."""
        self._stack.close()


# Waiting for a dead holder takes a lease; the rest is for those in line before us.
_LEASES_WAITED = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class FleetLock:
    """A lock that several hosts share; as a `FolderLock` in the way it is used."""

    __slots__ = ("_fleet", "_name", "_path")

    def __init__(self, fleet: Fleet, path: Path) -> None:
        self._fleet, self._path = fleet, path
        self._name = fleet.lock_name(path)

    @property
    def keeps_others_out(self) -> bool:
        """The database does, whatever the file system says to locks."""
        return True

    @contextmanager
    def held(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the lock, which is not reentrant.

        Raises `LockTimeout` after `timeout` seconds, by default three leases, and
        `DatabaseUnavailable`.
        """
        if timeout is None:
            timeout = _LEASES_WAITED * self._fleet.lease_seconds
        with self._leased(timeout) as hold, fenced_by(hold):
            try:
                yield
            except LockLost:
                raise
            except Exception:
                # Half of what was read may be of another holder, a file gone by its doing.
                hold.leases.check(hold.lease)
                raise

    def taken(self, timeout: float) -> HeldLock:
        """Take the lock until it is given back, in whatever thread.

        Raises as `held` does, and as `check` does not: this thread writes nothing under it.
        """
        with ExitStack() as stack:
            hold = stack.enter_context(self._leased(timeout))
            return HeldLock(hold, stack.pop_all())

    def check(self) -> None:
        """Raise `LockLost` where this thread holds the lock and another one may have it."""
        check_fence()

    @contextmanager
    def _leased(self, timeout: float) -> Iterator[LeaseHold]:
        """Hold the lease, with what a former holder left under way cleared up."""
        leases, until = self._fleet.leases, time.monotonic() + timeout
        threads = self._fleet.thread_lock(self._name)
        if not threads.acquire(timeout=timeout):
            raise lock_timeout(self._path, timeout)
        try:
            lease = self._acquired(leases, until, timeout)
            with leases.kept(lease):
                hold = LeaseHold(leases, lease, self._path.stem)
                before = self._fleet.fences.get(self._name, 0)
                self._fleet.fences[self._name] = lease.fence
                if self._path.name == _WRITE_LOCK and lease.fence != before + 1:
                    self._fleet.revalidate(self._path.parent.parent)
                if lease.taken_over:
                    with fenced_by(hold), under_job_fence(None):
                        self._clear_up()
                lease.is_cleaned = True
                yield hold
        finally:
            threads.release()

    def _acquired(self, leases: Leases, until: float, timeout: float) -> WriteLease:
        pause = _FIRST_PAUSE
        while True:
            lease = leases.take(self._name)
            if lease is not None:
                return lease
            if time.monotonic() >= until:
                raise lock_timeout(self._path, timeout)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _clear_up(self) -> None:
        """Remove the drafts of former holders, and replace what they may still append to by copies.

        What is renamed or written by one that is suspended is gone, or has no name, from here on.
        """
        folder = self._path.parent.parent
        files = [real_path(folder / name) for name in (*NOTE_FILES, *_APPENDED)]
        drafts = f".*.{HALF}-{self._path.stem}-*{TEMPORARY}"
        with store_errors("remove", folder):
            for place in {folder, self._path.parent, *(file.parent for file in files)}:
                for draft in place.glob(drafts):
                    draft.unlink(missing_ok=True)
        if self._path.name == _WRITE_LOCK:
            for name in _APPENDED:
                _replace_by_copy(real_path(folder / name))


def _replace_by_copy(path: Path) -> None:
    data = read_if_there(path)
    if data is None:
        return
    with store_errors("read", path):
        status = path.stat()
    put_whole(path, data)
    with store_errors("write", path):
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    sync_folder(path.parent)
