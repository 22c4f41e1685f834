"""The lock of the one process that does the idle work of a workspace."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.folder_lock import is_at, try_lock
from pipimem.store.disk.syscalls import make_folder, opened, reading, store_errors, write_whole

# A number and a command line; more is not shown.
_LONGEST = 300


@dataclass(slots=True)
class LeaderLock:
    """`.pipimem/idle.lock`, held from `take` to `give_back`; a killed holder frees it at once.

    All of it may be called in any thread.
    """

    path: Path
    _descriptor: int | None = None
    # Held while the descriptor is looked at or exchanged: no thread may ask a closed one.
    _mutex: threading.RLock = field(default_factory=threading.RLock)

    def take(self, who: str) -> bool:
        """Takes the lock if it is free; whether it is ours. `who` is shown to others."""
        with self._mutex:
            if self.is_held:
                return True
            self.give_back()
            self._descriptor = self._taken(who)
            return self._descriptor is not None

    def _taken(self, who: str) -> int | None:
        make_folder(self.path.parent)
        with store_errors("lock", self.path):
            descriptor = opened(self.path, os.O_RDWR | os.O_CREAT)
            try:
                if not try_lock(descriptor):
                    os.close(descriptor)
                    return None
                os.ftruncate(descriptor, 0)
                write_whole(descriptor, who.encode("utf-8", "replace")[:_LONGEST] + b"\n")
            except OSError:
                os.close(descriptor)
                raise
        return descriptor

    @property
    def is_held(self) -> bool:
        """Whether the lock is ours and its file still there: one that is gone keeps nobody out."""
        with self._mutex:
            return self._descriptor is not None and is_at(self.path, self._descriptor)

    def is_free(self) -> bool:
        """Whether nobody holds the lock now; nothing is made or written."""
        with store_errors("lock", self.path):
            try:
                descriptor = opened(self.path, os.O_RDWR)
            except FileNotFoundError:
                return True
            try:
                return try_lock(descriptor)
            finally:
                os.close(descriptor)

    def holder(self) -> str:
        """What the holder wrote as `who`; `another process` where that cannot be read."""
        try:
            with reading(self.path) as file:
                who = file.read(_LONGEST).decode("utf-8", "replace").strip()
        except (OSError, StoreError):
            who = ""
        return who or "another process"

    def give_back(self) -> None:
        """Releases the lock, if it is ours."""
        with self._mutex:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
