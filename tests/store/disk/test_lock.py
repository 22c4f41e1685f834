"""The lock between threads and processes."""

from __future__ import annotations

import errno
import os
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.errors import LockTimeout, StoreError
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.checkup.channels import channel_findings
from pipimem.store.disk import lock
from pipimem.store.disk.lock import FolderLock, locks_hold
from pipimem.store.workspace import WorkspaceStore


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
    ours, order = FolderLock(tmp_path / "lock"), []

    def work(name: str) -> None:
        with ours.held():
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


def test_a_lock_that_keeps_nobody_out_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems say yes to everybody."""
    assert locks_hold(tmp_path / "lock")
    with FolderLock(tmp_path / "lock").held():
        assert locks_hold(tmp_path / "lock")
    monkeypatch.setattr(lock, "taken", lambda _: True)
    assert not locks_hold(tmp_path / "lock")


def test_no_channel_is_made_where_locks_do_not_hold(workspace: WorkspaceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather a sentence than two bots that overwrite each other."""
    monkeypatch.setattr(lock, "taken", lambda _: True)
    with pytest.raises(StoreError, match="locks do not hold on this file system"):
        ChannelStore.open(workspace, "team", create=True)


def test_nothing_is_written_where_locks_hold_no_more(
    workspace: WorkspaceStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace that was moved to such a disk: reading goes on, writing is refused, doctor says so."""
    ChannelStore.open(workspace, "team", create=True).append([Message.user("hi")])
    # As NFS mounted with `nolock`, and some FUSE file systems: every call says yes.
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    moved = ChannelStore.open(workspace, "team", create=False)
    assert [message.content for message in moved.transcript.messages()] == ["hi"]
    for write in (
        lambda: moved.append([Message.user("more")]),
        lambda: moved.commit(Decision("note", Author.RULE, why="x"), now),
        lambda: moved.forget("hi", keep_transcript=False, now=now),
        lambda: ChannelStore.open(workspace, "hall", create=True),
    ):
        with pytest.raises(StoreError, match="locks do not hold on this file system"):
            write()
    assert [one.what for one in channel_findings(workspace, moved.folder, now) if "locks do not hold" in one.what]


def test_a_file_system_without_locks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what helps."""

    def refuse(_: int) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "taken", refuse)
    with pytest.raises(StoreError, match=r"cannot lock files.*local disk"), FolderLock(tmp_path / "lock").held():
        pass
