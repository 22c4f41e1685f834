"""The lock of a folder, between threads and between processes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipimem.errors import LockTimeout
from pipimem.store.disk.calls import opened, told

if sys.platform == "win32":
    import msvcrt

    def taken(descriptor: int) -> bool:
        """Whether the lock of an open file was free and is ours now; closing the file gives it back."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def taken(descriptor: int) -> bool:
        """Whether the lock of an open file was free and is ours now; closing the file gives it back."""
        # flock, not lockf: a POSIX lock is lost as soon as anything closes any descriptor of the file.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def locks_hold(path: Path) -> bool:
    """Whether a lock on this file keeps others out: some network file systems say yes to everybody.

    The file is made where it is not there; a lock somebody holds is proof enough.
    """
    with told("lock", path):
        first = opened(path, os.O_RDWR | os.O_CREAT)
        second = opened(path, os.O_RDWR)
        try:
            return not (taken(first) and taken(second))
        finally:
            os.close(first)
            os.close(second)


# Longer than the longest commit (2 s for an editor at work is waited outside the lock) on a slow disk.
_PATIENCE = 10.0
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05


class FolderLock:
    """One lock file, never deleted: a deleted one could be held by two. A killed holder frees it at once.

    The descriptor is open only while the lock is held: opening costs 10 µs, a thousand idle channels would
    cost a thousand descriptors.
    """

    __slots__ = ("_path", "_thread")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = threading.Lock()

    @contextmanager
    def held(self, patience: float = _PATIENCE) -> Iterator[None]:
        """Holds the lock; it cannot be taken twice. Raises `LockTimeout` after `patience` seconds."""
        deadline = time.monotonic() + patience
        if not self._thread.acquire(timeout=patience):
            raise self._timeout(patience)
        try:
            with told("open", self._path):
                descriptor = opened(self._path, os.O_RDWR | os.O_CREAT)
            try:
                self._wait(descriptor, deadline, patience)
                yield
            finally:
                os.close(descriptor)
        finally:
            self._thread.release()

    def _wait(self, descriptor: int, deadline: float, patience: float) -> None:
        pause = _FIRST_PAUSE
        with told("lock", self._path):
            while not taken(descriptor):
                if time.monotonic() > deadline:
                    raise self._timeout(patience)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _timeout(self, patience: float) -> LockTimeout:
        return LockTimeout(
            f"{self._path.parent.parent.name}: another process has held this channel for {patience:g} s. "
            "Try again, or see which process uses the workspace."
        )
