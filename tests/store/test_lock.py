"""The lock between threads and processes."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from pipimem.errors import LockTimeout
from pipimem.store.lock import FolderLock


def test_a_second_holder_waits_and_gives_up(tmp_path: Path) -> None:
    """With a sentence that says what to look for."""
    path = tmp_path / "lock"
    with (
        FolderLock(path).held(),
        pytest.raises(LockTimeout, match="another process"),
        FolderLock(path).held(0.05),
    ):
        pass


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    """The same object in two threads is as good as two processes."""
    lock, order = FolderLock(tmp_path / "lock"), []

    def work(name: str) -> None:
        with lock.held():
            order.append(name)
            time.sleep(0.01)
            order.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [order[0], order[2], order[4]] == [order[1], order[3], order[5]]


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    """Nobody has to remove a lock file by hand."""
    lock = FolderLock(tmp_path / "lock")
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        with lock.held():
            os.write(tell, b"x")
            time.sleep(60)
    os.read(ready, 1)
    with pytest.raises(LockTimeout), FolderLock(tmp_path / "lock").held(0.05):
        pass
    os.kill(child, 9)
    os.waitpid(child, 0)
    with FolderLock(tmp_path / "lock").held(5.0):
        pass
    assert (tmp_path / "lock").exists()
