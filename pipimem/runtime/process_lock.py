"""The lock that lets one process at a time do something in a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipimem.errors import WorkspaceError
from pipimem.store.leader_lock import LeaderLock


@contextmanager
def process_lock(workspace: Path, name: str, what: str) -> Iterator[None]:
    """Holds `.pipimem/NAME.lock` of a workspace; a killed holder frees it at once.

    Raises `WorkspaceError` where another holder has it, with `what` it is that goes on already, and
    `StoreError` where the disk refuses.
    """
    lock = LeaderLock(workspace / ".pipimem" / f"{name}.lock")
    if not lock.take(f"process {os.getpid()}"):
        raise WorkspaceError(f"{what} on {workspace} already ({lock.holder()}). Stop it first.")
    try:
        yield
    finally:
        lock.give_back()
