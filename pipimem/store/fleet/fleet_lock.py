"""The lock of a folder between hosts: a lease in the database, and its fence in the folder."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from pipimem.errors import LockLost, StoreError
from pipimem.notes.kinds import File
from pipimem.settings import FleetSettings
from pipimem.store.disk import presence
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.fencing import (
    check_fence,
    fenced_by,
    put_back,
    take_staging,
    under_job_fence,
)
from pipimem.store.disk.files import prepare, put_whole, real_path, remove, temporary_for
from pipimem.store.disk.folder_lock import lock_timeout
from pipimem.store.disk.shared_folders import SharedFolder, share, shared_folder
from pipimem.store.disk.syscalls import (
    FILE_MODE,
    FOLDER_MODE,
    make_folder,
    read_if_there,
    store_errors,
    sync_folder,
    write_whole,
)
from pipimem.store.fleet.database import FleetDatabase
from pipimem.store.fleet.lease import Leases, WriteLease
from pipimem.store.fleet.listener import JOB_LOCK, Listener
from pipimem.store.fleet.usage import FleetUsage, Visits
from pipimem.store.transcript.spool import TalkSpool
from pipimem.text.json_lines import checked_line, checked_value


class PlantedFence(Struct, frozen=True):
    """One holder's fence in the folder `own`: the file `name`, and its staging directory."""

    own: Path
    name: str
    lease: WriteLease

    @property
    def number(self) -> int:
        """Greater than that of every holder before."""
        return self.lease.fence

    @property
    def folder(self) -> Path:
        """The folder above, which holds all that is written under this fence."""
        return self.own.parent

    @property
    def staging(self) -> Path:
        """The folder through which all that this holder names or removes passes."""
        return self.own / f"{self.name}-{self.number}"

    @property
    def is_passed(self) -> bool:
        """Whether the fence that stands in the folder is another one."""
        return standing_number(self.own, self.name) != self.number

    def check(self) -> None:
        """Raises `LockLost` where the lease is over, or another holder has planted its fence."""
        if self.lease.is_over or self.is_passed:
            raise LockLost(
                f"{self.folder.name}: this process was suspended, or cut off from the database, "
                "for longer than its lease, so another one may write. Nothing was written; try "
                "again."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Half of what was read may be of another holder, a file gone by its doing. A `LockLost`
        # may say more: that an append may have landed.
        if isinstance(error, Exception) and not isinstance(error, LockLost):
            self.check()

    def wrote(self, record: int) -> None:
        """Notes a writing: others get notice of it when the lease is given back."""
        self.lease.written = max(record, self.lease.written or 0)

    def plant(self) -> None:
        """Plants the fence, durably, and takes away what holders before it had under way.

        Raises `LockLost` where a greater one stands there already.
        """
        with store_errors("write", self.own / self.name):
            if self._is_planted():
                put_back(self.staging, self.folder)
                return
            self.staging.mkdir(mode=FOLDER_MODE, exist_ok=True)
            while True:
                self._put()
                for staging in self._lower_stagings():
                    take_staging(staging, self.staging, self.folder)
                # One that was suspended in its own planting may have come in between, the last
                # time: its draft lay in its staging directory.
                if not self.is_passed:
                    break
            put_back(self.staging, self.folder)
        sync_folder(self.own)

    def _is_planted(self) -> bool:
        if self.lease.taken_over or not presence.is_folder(self.staging):
            return False
        return not self.is_passed

    def _put(self) -> None:
        draft = self.staging / "half-fence"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            write_whole(descriptor, checked_line({"fence": self.number}))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # Behind the draft: the staging directory of who is suspended from here on is taken away.
        if standing_number(self.own, self.name) > self.number:
            raise LockLost(f"{self.folder.name}: another process took the lock over. Try again.")
        draft.replace(self.own / self.name)

    def _lower_stagings(self) -> list[Path]:
        found = []
        for path in self.own.glob(f"{self.name}-*"):
            number = path.name.removeprefix(f"{self.name}-")
            if number.isdecimal() and int(number) < self.number:
                found.append(path)
        return found


def standing_number(own: Path, name: str) -> int:
    """The number that is planted in a folder; 0 where none is, or it cannot be understood."""
    value = checked_value(read_if_there(own / name) or b"") or {}
    number = value.get("fence")
    return number if isinstance(number, int) else 0


# What is appended to, by the name of the lock under which it is, relative to the lock's folder.
_APPENDED = {"lock": ("../log.jsonl", f"../{File.ARCHIVE}")}


def replace_appended(lock: Path) -> None:
    """Replaces what is appended to under a lock by copies; the caller holds it, fence planted."""
    for name in _APPENDED.get(lock.name, ()):
        path = real_path(lock.parent / name)
        data = read_if_there(path)
        if data is None:
            continue
        with store_errors("read", path):
            status = path.stat()
        put_whole(path, data)
        with store_errors("write", path):
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        sync_folder(path.parent)


_NAME = "fleet.json"
_WORKSPACE_BYTES = 8


def joined(root: Path, settings: FleetSettings) -> Fleet:
    """The fleet of a workspace; the database is asked at the first lock, not here.

    Raises `StoreError`.
    """
    own = root / ".pipimem"
    name = _name(own) or _named(own)
    return Fleet(root, name, FleetDatabase(settings.database), settings.lease_seconds)


def _name(own: Path) -> str:
    value = checked_value(read_if_there(own / _NAME) or b"") or {}
    return str(value.get("workspace", ""))


def _named(own: Path) -> str:
    """Gives a workspace a name; where several hosts do at once, all get that of the fastest."""
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
# Waiting for a dead holder takes a lease; the rest is for those in line before us.
_LEASES_WAITED = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


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
    _listener: Listener | None = None
    _process: int = 0
    _threads: dict[str, threading.Lock] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        """The name of this host, as part of a file's name."""
        return re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:_LONGEST_HOST] or "host"

    def lock(self, path: Path) -> FleetLock:
        """The lock that on one host is the file at `path`."""
        return FleetLock(self, path)

    def hold_job_lock(self, folder: Path, timeout: float) -> HeldLock:
        """Takes the lock of the jobs of the channel in a folder: one host at a time has it.

        Raises `LockTimeout` after `timeout` seconds, and `DatabaseUnavailable`.
        """
        return self.lock(folder / ".pipimem" / JOB_LOCK).taken(timeout)

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
                self._listener = None
            return self._leases

    @property
    def listener(self) -> Listener:
        """What hears of the writing of other hosts; it begins when it is first asked for."""
        owner = self.owner
        with self._mutex:
            if self._listener is None:
                channels = self.root / "channels"
                self._listener = Listener(self.database.address, self.name, owner, channels)
                self._listener.start()
            return self._listener

    def share(self, folder: Path) -> SharedFolder:
        """Reads again what other hosts write in a channel's folder, while the result is kept."""
        self.listener  # noqa: B018 - begins
        return share(folder, lambda: self.listener.is_listening)

    @property
    def usage_store(self) -> FleetUsage:
        """What the calls of all hosts are counted by."""
        return FleetUsage(self.root / ".pipimem", self.name, self.host, self.database, self.lock)

    def spool_in(self, folder: Path) -> TalkSpool:
        """Where talk waits while the channel in a folder cannot be written to."""
        return TalkSpool(folder / ".pipimem" / "spool", self.owner)

    @property
    def owner(self) -> str:
        """What this process is called among all hosts."""
        return self.leases.owner

    def id_of(self, path: Path) -> str:
        """What a lock is called in the database: names of folders, no texts."""
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        parts = [part for part in inside.parts if part not in ("channels", ".pipimem")]
        return "/".join((self.name, *parts))

    def thread_lock(self, name: str) -> threading.Lock:
        """What orders the threads of this process that want one lock."""
        with self._mutex:
            return self._threads.setdefault(name, threading.Lock())


class HeldLock(Struct, frozen=True):
    """A lock that is ours until `give_back`, whichever thread calls it."""

    fence: PlantedFence
    _stack: ExitStack

    def give_back(self) -> None:
        """Gives it back."""
        self._stack.close()


class FleetLock:
    """A lock that several hosts share; as a `FolderLock` in the way it is used."""

    __slots__ = ("_fleet", "_id", "_path")

    def __init__(self, fleet: Fleet, path: Path) -> None:
        self._fleet, self._path = fleet, path
        self._id = fleet.id_of(path)

    @property
    def keeps_others_out(self) -> bool:
        """The database does, whatever the file system says to locks."""
        return True

    @contextmanager
    def held(self, timeout: float | None = None) -> Iterator[None]:
        """Holds the lock, which is not reentrant, with the fence planted.

        Raises `LockTimeout` after `timeout` seconds, by default three leases, and
        `DatabaseUnavailable`.
        """
        if timeout is None:
            timeout = _LEASES_WAITED * self._fleet.lease_seconds
        leases, until = self._fleet.leases, time.monotonic() + timeout
        threads = self._fleet.thread_lock(self._id)
        if not threads.acquire(timeout=timeout):
            raise lock_timeout(self._path, timeout)
        try:
            with self._fenced(leases, until, timeout) as fence, fenced_by(fence), fence:
                yield
        finally:
            threads.release()

    @contextmanager
    def _fenced(self, leases: Leases, until: float, timeout: float) -> Iterator[PlantedFence]:
        """Holds the lease, with the fence planted; asks again where it is lost in the planting."""
        while True:
            lease = self._acquired(leases, until, timeout)
            with leases.kept(lease):
                fence = self._planted(lease)
                if fence is not None:
                    self._distrust(lease)
                    yield fence
                    return
            if time.monotonic() >= until:
                raise lock_timeout(self._path, timeout)

    def taken(self, timeout: float) -> HeldLock:
        """The lock, taken until it is given back, in whatever thread.

        Raises as `held` does, and as `check` does not: this thread writes nothing under it.
        """
        with ExitStack() as stack:
            until = time.monotonic() + timeout
            threads = self._fleet.thread_lock(self._id)
            if not threads.acquire(timeout=timeout):
                raise lock_timeout(self._path, timeout)
            stack.callback(threads.release)
            fence = stack.enter_context(self._fenced(self._fleet.leases, until, timeout))
            return HeldLock(fence, stack.pop_all())

    def check(self) -> None:
        """Raises `LockLost` where this thread holds the lock and another one may have it."""
        check_fence()

    def _acquired(self, leases: Leases, until: float, timeout: float) -> WriteLease:
        attempt, pause = os.urandom(_NAME_BYTES).hex(), _FIRST_PAUSE
        while True:
            floor = standing_number(self._path.parent, self._fence_name)
            lease = leases.ask(self._id, attempt, floor)
            if lease is not None:
                return lease
            if time.monotonic() >= until:
                raise lock_timeout(self._path, timeout)
            if pause == _FIRST_PAUSE and self._path.name == JOB_LOCK:
                leases.notify_of_waiting(self._id)  # idle work ends for who cannot wait for it
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _planted(self, lease: WriteLease) -> PlantedFence | None:
        """The fence of a lease, planted; `None` where another holder's is by now."""
        fence = PlantedFence(self._path.parent, self._fence_name, lease)
        try:
            fence.plant()
            if lease.taken_over:
                fence.wrote(0)  # the former holder may have given no notice of what it wrote
                with fenced_by(fence), under_job_fence(None):
                    replace_appended(self._path)
            fence.check()
        except LockLost:
            return None
        except (StoreError, OSError):
            if not fence.is_passed:
                raise
            return None
        lease.is_planted = True
        return fence

    def _distrust(self, lease: WriteLease) -> None:
        """What another holder wrote is read again, whatever the file system shows of the files."""
        shared = shared_folder(self._path.parent.parent)
        if shared is not None and self._path.name == "lock":
            shared.locked(lease.fence)

    @property
    def _fence_name(self) -> str:
        return "fence" if self._path.name == "lock" else f"{self._path.stem}.fence"
