"""The lock of a folder, between threads and between processes."""

from __future__ import annotations

import os
import sys
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
# At the turnstile only one process asks for the lock, so it may ask often.
_PAUSE_AT_THE_HEAD = 0.001
_FIRST_PAUSE = 0.01
# Whoever stands at the turnstile so long without moving is suspended, or the holder is slow: others ask beside it.
_PAST_THE_TURNSTILE = 5.0


class FolderLock:
    """One lock file, never deleted: a deleted one could be held by two. A killed holder frees it at once.

    It is fair: a second file beside it, the turnstile, is locked by whoever is next, from asking until the lock is
    theirs. Who gives the lock back and wants it again finds the turnstile taken and stands behind; with the lock alone,
    a process that takes it without pause would nearly always be faster than one that looks now and then. Behind the
    turnstile those who have waited longer ask more often. A waiter that is killed frees the turnstile; past one that is
    suspended (Ctrl-Z) others go after 5 s.

    `flock` keeps every open file apart, also two of one process, so threads need no lock of their own. The descriptors
    are open only while they are needed: opening costs 10 µs, a thousand idle channels would cost a thousand.
    """

    __slots__ = ("_path", "_turnstile")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turnstile = path.with_name(f"{path.name}.turnstile")

    @contextmanager
    def held(self, patience: float = _PATIENCE) -> Iterator[None]:
        """Holds the lock; it cannot be taken twice. Raises `LockTimeout` after `patience` seconds."""
        with _open(self._path) as lock:
            with _open(self._turnstile) as turnstile, told("lock", self._path):
                self._wait(lock, turnstile, patience)
            yield

    def _wait(self, lock: int, turnstile: int, patience: float) -> None:
        began = time.monotonic()
        is_next = False
        while True:
            waited = time.monotonic() - began
            is_next = is_next or taken(turnstile)
            if (is_next or waited > _PAST_THE_TURNSTILE) and taken(lock):
                return
            if waited >= patience:
                raise self._timeout(patience)
            # Halved with each second: who has waited for 3 s asks eight times as often as who has just come.
            behind = max(_PAUSE_AT_THE_HEAD, _FIRST_PAUSE * 0.5**waited)
            time.sleep(_PAUSE_AT_THE_HEAD if is_next else behind)

    def _timeout(self, patience: float) -> LockTimeout:
        return LockTimeout(
            f"{self._path.parent.parent.name}: another process has held this channel for {patience:g} s. "
            "Try again, or see which process uses the workspace."
        )


@contextmanager
def _open(path: Path) -> Iterator[int]:
    """The descriptor of a lock file, made where it is not there; closing it gives its lock back."""
    with told("open", path):
        descriptor = opened(path, os.O_RDWR | os.O_CREAT)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
