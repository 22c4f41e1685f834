"""What only has the name of the usage ledger: a call that cannot be noted is an error, at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.usage import Usage
from pipimem.store.workspace import WorkspaceStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no pipes with names")
CALL = Usage("2026-03-02T09:00:00+08:00", "", "tidy", "m", 1, 1, 0, None, 0.1, "ok", "c")


def bind(path: Path) -> None:
    """Make a socket; its path may have 108 bytes."""
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def link_out(path: Path) -> None:
    """Make a link to a file outside the workspace."""
    outside = path.parents[2] / "foreign"
    outside.write_text("foreign\n")
    path.symlink_to(outside)


@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir, bind, link_out])
def test_the_ledger_is_named_and_nobody_waits(
    workspace: WorkspaceStore, put: Callable[[Path], None]
) -> None:
    """Writing and reading raise an error with its path."""
    path = workspace.root / ".pipimem/usage-2026-03.jsonl"
    path.parent.mkdir(exist_ok=True)
    put(path)
    with pytest.raises(StoreError, match="usage-2026-03"):
        workspace.usage_store.append(CALL)
    with pytest.raises(StoreError, match="usage-2026-03"):
        list(workspace.usages())
