"""The lock of the one process that does the idle work of a workspace."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.folder_lock import is_at, try_lock
from pipimem.store.disk.syscalls import make_folder, opened, reading, store_errors, write_whole

# A number and a command line; more is not shown.
_LONGEST = 300


@dataclass(slots=True)
class LeaderLock:
    """`.pipimem/idle.lock`, held from `take` to `give_back`; a killed holder frees it at once."""

    path: Path
    _descriptor: int | None = None

    def take(self, who: str) -> bool:
        """Takes the lock if it is free; whether it is ours. `who` is shown to others."""
        if self.is_held:
            return True
        self.give_back()
        make_folder(self.path.parent)
        with store_errors("lock", self.path):
            descriptor = opened(self.path, os.O_RDWR | os.O_CREAT)
            try:
                if not try_lock(descriptor):
                    os.close(descriptor)
                    return False
                os.ftruncate(descriptor, 0)
                write_whole(descriptor, who.encode("utf-8", "replace")[:_LONGEST] + b"\n")
            except OSError:
                os.close(descriptor)
                raise
        self._descriptor = descriptor
        return True

    @property
    def is_held(self) -> bool:
        """Whether the lock is ours and its file still there: one that is gone keeps nobody out."""
        return self._descriptor is not None and is_at(self.path, self._descriptor)

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
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
