"""The duty of a workspace: of all its processes one does the idle work, and the others can say which."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.calls import make_folder, opened, reading, told, write_whole
from pipimem.store.disk.lock import taken

# A number and a command line; more is not shown.
_LONGEST = 300


@dataclass(slots=True)
class Duty:
    """`.pipimem/idle.lock`, held from `take` to `give_back`; a killed holder frees it at once."""

    path: Path
    _descriptor: int | None = None

    def take(self, who: str) -> bool:
        """Whether the duty is ours; `who` is what others will read about us."""
        if self.is_held:
            return True
        self.give_back()
        make_folder(self.path.parent)
        with told("lock", self.path):
            descriptor = opened(self.path, os.O_RDWR | os.O_CREAT)
            try:
                if not taken(descriptor):
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
        """Whether the duty is ours, and the file that says so is still there: one that is gone keeps nobody out."""
        if self._descriptor is None:
            return False
        with told("read", self.path):
            try:
                # An inode does not come again while a file is open.
                return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
            except FileNotFoundError:
                return False

    def holder(self) -> str:
        """What the process that has the duty says of itself; `another process` where that cannot be read."""
        try:
            with reading(self.path) as file:
                told_by = file.read(_LONGEST).decode("utf-8", "replace").strip()
        except (OSError, StoreError):
            told_by = ""
        return told_by or "another process"

    def give_back(self) -> None:
        """Lets another process have the duty; who does not hold it gives nothing back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
