"""Whether a process can do its work: what `/readyz` answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipimem.store.disk import presence

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

# A commit of a large channel needs some; below this the operator has minutes.
_LEAST_FREE_BYTES = 16 << 20


class Readiness:
    """Looks at the workspace, and asks `others`: each gives what is wrong in its place, or "".

    The sentences are fixed: they name no file, no channel and no text.
    """

    def __init__(self, pipimem: Pipimem, *others: Callable[[], str]) -> None:
        self._pipimem, self._others = pipimem, others

    def problem(self) -> str:
        """Why the process cannot do its work, in a sentence; empty where it can.

        A few system calls; call it in a thread where the disk may hang.
        """
        return self._of_runtime() or self._of_disk() or self._of_others()

    def _of_runtime(self) -> str:
        return "" if self._pipimem.is_started else "the runtime is starting, or has ended"

    def _of_disk(self) -> str:
        root = self._pipimem.store.root
        for folder in (root, root / "channels", root / ".pipimem"):
            if not presence.is_folder(folder):
                # Made at the first write, but for the workspace itself.
                if folder == root:
                    return "the workspace is not there"
            elif not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                return "the workspace cannot be written"
        try:
            disk = os.statvfs(root)
        except OSError:
            return "the workspace cannot be read"
        if disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES:
            return "the disk is full"
        return ""

    def _of_others(self) -> str:
        return next(filter(None, (other() for other in self._others)), "")
