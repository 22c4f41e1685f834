"""The lock of a folder, between threads and between processes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from pipimem.errors import LockLost, LockTimeout
from pipimem.store.disk.syscalls import opened, store_errors


class WriteLock(Protocol):
    """The lock of a folder between threads, processes and, in a fleet, hosts. Not reentrant."""

    def held(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Holds the lock. Raises `LockTimeout` after `timeout` seconds, `None` for the usual."""

    def check(self) -> None:
        """Raises `LockLost` where this thread has the lock and another holder may have it, too."""

    @property
    def keeps_others_out(self) -> bool:
        """Whether the lock holds here: on some network file systems one of files does not."""


MakeLock = Callable[[Path], WriteLock]
"""Makes the lock that is named by the path of its file."""


def lock_timeout(path: Path, timeout: float) -> LockTimeout:
    """The error of who waited `timeout` seconds for the lock of a channel, named by its path."""
    return LockTimeout(
        f"{path.parent.parent.name}: another process has held this channel for {timeout:g} s. "
        "Try again, or see which process uses the workspace."
    )


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Returns whether the lock of an open file was free; it is ours until it is closed."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(_descriptor: int) -> None:
        """Does nothing: closing the file unlocks it, and no process forks."""
else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Returns whether the lock of an open file was free; it is ours until it is closed."""
        # flock, not lockf: a POSIX lock is lost as soon as anything closes any descriptor of the
        # file.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Unlock an open file, if it is locked.

        A child that was forked meanwhile has the same open file: closing ours alone would leave it
        locked until the child ends, and the child would wait for itself.
        """
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def locks_hold(path: Path) -> bool:
    """Whether a lock on this file keeps others out: some network file systems say yes to everybody.

    The file is made where it is not there; a lock somebody holds is proof enough.
    """
    with store_errors("lock", path):
        first = opened(path, os.O_RDWR | os.O_CREAT)
        second = opened(path, os.O_RDWR)
        try:
            return not (try_lock(first) and try_lock(second))
        finally:
            os.close(first)
            os.close(second)


# Longer than the longest commit (2 s for an editor at work is waited outside the lock) on a slow
# disk.
_LOCK_TIMEOUT = 10.0
# At the turnstile only one process asks for the lock, so it may ask often.
_PAUSE_AT_THE_HEAD = 0.001
_FIRST_PAUSE = 0.01
# Whoever stands at the turnstile so long without moving is suspended, or the holder is slow: others
# ask beside it.
_PAST_THE_TURNSTILE = 5.0


class FolderLock:
    """One lock file, never deleted by us. A killed holder frees it at once.

    Where somebody deletes or replaces the file while one waits for it, the lock of the file that
    was opened keeps nobody out: the file that has the name now is locked instead. Where that
    happens while it is held, `check` tells the holder, before it writes.

    It is fair: a second file beside it, the turnstile, is locked by whoever is next, from asking
    until the lock is theirs. Who gives the lock back and wants it again finds the turnstile taken
    and stands behind; with the lock alone, a process that takes it without pause would nearly
    always be faster than one that looks now and then. Behind the turnstile those who have waited
    longer ask more often. A waiter that is killed frees the turnstile; past one that is suspended
    (Ctrl-Z) others go after 5 s.

    `flock` keeps every open file apart, also two of one process, so threads need no lock of their
    own. The descriptors are open only while they are needed: opening costs 10 µs, a thousand idle
    channels would cost a thousand.
    """

    __slots__ = ("_held", "_path", "_turnstile")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turnstile = path.with_name(f"{path.name}.turnstile")
        # The open lock file by the thread that holds it: where it is replaced, two may hold one
        # each.
        self._held: dict[int, int] = {}

    @contextmanager
    def held(self, timeout: float | None = None) -> Iterator[None]:
        """Holds the lock, which is not reentrant.

        Raises `LockTimeout` after `timeout` seconds, 10 by default.
        """
        timeout = _LOCK_TIMEOUT if timeout is None else timeout
        began = time.monotonic()
        while True:
            with _open(self._path) as lock:
                with _open(self._turnstile) as turnstile, store_errors("lock", self._path):
                    self._wait(lock, turnstile, began, timeout)
                if is_at(self._path, lock):
                    self._held[threading.get_ident()] = lock
                    try:
                        yield
                    finally:
                        del self._held[threading.get_ident()]
                    return

    def check(self) -> None:
        """Raises `LockLost` where the file is another than the one that this thread has locked."""
        lock = self._held.get(threading.get_ident())
        if lock is not None and not is_at(self._path, lock):
            raise LockLost(
                f"{self._path} was deleted or replaced while it was held, so another process may "
                "hold it as well. Nothing was written; try again."
            )

    @property
    def keeps_others_out(self) -> bool:
        """Whether a lock on the file, which is made where it is not there, holds here."""
        return locks_hold(self._path)

    def _wait(self, lock: int, turnstile: int, began: float, timeout: float) -> None:
        is_next = False
        while True:
            waited = time.monotonic() - began
            is_next = is_next or try_lock(turnstile)
            if (is_next or waited > _PAST_THE_TURNSTILE) and try_lock(lock):
                return
            if waited >= timeout:
                raise lock_timeout(self._path, timeout)
            # Halved with each second: who has waited for 3 s asks eight times as often as who has
            # just come.
            behind = max(_PAUSE_AT_THE_HEAD, _FIRST_PAUSE * 0.5**waited)
            time.sleep(_PAUSE_AT_THE_HEAD if is_next else behind)


@contextmanager
def _open(path: Path) -> Iterator[int]:
    """The descriptor of a lock file, made where it is not there; its lock is given back."""
    with store_errors("open", path):
        descriptor = opened(path, os.O_RDWR | os.O_CREAT)
    try:
        yield descriptor
    finally:
        unlock(descriptor)
        os.close(descriptor)


def is_at(path: Path, descriptor: int) -> bool:
    """Whether a path still names the file of a descriptor.

    An inode does not come again while a file is open.
    """
    with store_errors("lock", path):
        try:
            return os.path.samestat(path.stat(), os.fstat(descriptor))
        except FileNotFoundError:
            return False
