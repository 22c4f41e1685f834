"""What keeps all writers but one away from a folder, on one host or between several."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pipimem.errors import LockTimeout


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
