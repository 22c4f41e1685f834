"""The lock between threads and processes."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.errors import LockTimeout, StoreError
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import folder_lock as lock
from pipimem.store.disk.folder_lock import FolderLock, locks_hold
from pipimem.store.health.channels import channel_findings
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


def test_a_child_that_is_forked_while_a_thread_holds_the_lock_gets_it_afterwards(
    tmp_path: Path,
) -> None:
    """The child has the open file of the thread, which it does not have."""
    path = tmp_path / "lock"
    is_held, is_forked = threading.Event(), threading.Event()

    def hold() -> None:
        with FolderLock(path).held():
            is_held.set()
            is_forked.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait(30)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with FolderLock(path).held(20.0):
                code = 0
        finally:
            os._exit(code)
    is_forked.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


def test_who_held_the_lock_goes_behind_those_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that takes it without pause gives it back only for microseconds: no waiter looks
    just then.
    """
    hog = ExitStack()
    hog.enter_context(FolderLock(tmp_path / "lock").held())
    refused: list[LockTimeout] = []

    def a_pause_of_the_waiter(_: float) -> None:
        """The other process ends its work, and wants the lock again at once."""
        hog.close()
        try:
            hog.enter_context(FolderLock(tmp_path / "lock").held(0.0))
        except LockTimeout as error:
            refused.append(error)

    monkeypatch.setattr(lock.time, "sleep", a_pause_of_the_waiter)
    with FolderLock(tmp_path / "lock").held(1.0):
        assert len(refused) == 1


def test_all_who_wait_come_by_beside_one_who_never_pauses(tmp_path: Path) -> None:
    """Threads of two processes, each with a lock of its own; whoever is next waits for one
    holding alone.
    """
    path, ended = tmp_path / "lock", threading.Event()
    holdings, most = [0], [0]

    def hog() -> None:
        while not ended.is_set():
            with FolderLock(path).held():
                holdings[0] += 1
                time.sleep(0.002)

    def waiter() -> None:
        for _ in range(10):
            before = holdings[0]
            with FolderLock(path).held():
                most[0] = max(most[0], holdings[0] - before)

    child = os.fork()
    if child == 0:
        for _ in range(30):
            with FolderLock(path).held():
                pass
        os._exit(0)
    first, waiters = (
        threading.Thread(target=hog),
        [threading.Thread(target=waiter) for _ in range(3)],
    )
    for thread in (first, *waiters):
        thread.start()
    for thread in waiters:
        thread.join()
    came_by = os.waitpid(child, 0)[1] == 0
    ended.set()
    first.join()
    assert came_by
    # Where the lock alone decided, one waiter saw hundreds go before.
    assert most[0] < 100


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_waiter_that_goes_no_further_blocks_nobody(
    tmp_path: Path, end: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, it frees its place; suspended by Ctrl-Z it keeps it, and others go past after a
    while.
    """
    monkeypatch.setattr(lock, "_PAST_THE_TURNSTILE", 0.1)
    path = tmp_path / "lock"
    wait, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(wait, 1)
        with FolderLock(path).held(60.0):
            os._exit(1)
    with FolderLock(path).held():
        os.write(go, b"x")
        with (tmp_path / "lock.turnstile").open("w") as turnstile:
            while lock.try_lock(turnstile.fileno()):
                fcntl.flock(turnstile, fcntl.LOCK_UN)
                time.sleep(0.01)
        os.kill(child, end)
        os.waitpid(child, os.WUNTRACED)
    try:
        with FolderLock(path).held(5.0):
            pass
    finally:
        if end is signal.SIGSTOP:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_lock_that_keeps_nobody_out_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems say yes to everybody."""
    assert locks_hold(tmp_path / "lock")
    with FolderLock(tmp_path / "lock").held():
        assert locks_hold(tmp_path / "lock")
    monkeypatch.setattr(lock, "try_lock", lambda _: True)
    assert not locks_hold(tmp_path / "lock")


def test_no_channel_is_made_where_locks_do_not_hold(
    workspace: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rather a sentence than two bots that overwrite each other."""
    monkeypatch.setattr(lock, "try_lock", lambda _: True)
    with pytest.raises(StoreError, match="locks do not hold on this file system"):
        ChannelStore.open(workspace, "team", create=True)


def test_nothing_is_written_where_locks_hold_no_more(
    workspace: WorkspaceStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace that was moved to such a disk: reading goes on, writing is refused, doctor
    says so.
    """
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
    assert [
        one.what
        for one in channel_findings(workspace, moved.folder, now, Settings())
        if "locks do not hold" in one.what
    ]


def test_a_file_system_without_locks_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what helps."""

    def refuse(_: int) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "try_lock", refuse)
    with (
        pytest.raises(StoreError, match=r"cannot lock files.*local disk"),
        FolderLock(tmp_path / "lock").held(),
    ):
        pass


@pytest.mark.parametrize("replaces", [False, True])
def test_a_lock_file_that_is_deleted_while_one_waits_keeps_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaces: bool
) -> None:
    """Or replaced: the lock that was waited for is of a file that has the name no more, and
    others hold the new one.
    """
    path, holder, other = tmp_path / "lock", ExitStack(), ExitStack()
    holder.enter_context(FolderLock(path).held())

    def a_pause_of_the_waiter(_: float) -> None:
        """A person takes the file away, the holder ends, and another process makes and holds the
        file anew.
        """
        monkeypatch.undo()
        path.unlink()
        if replaces:
            path.touch()
        holder.close()
        (tmp_path / "lock.turnstile").unlink()
        other.enter_context(FolderLock(path).held())

    monkeypatch.setattr(lock.time, "sleep", a_pause_of_the_waiter)
    with pytest.raises(LockTimeout), FolderLock(path).held(0.1):
        pass
    other.close()
    with FolderLock(path).held(0.1):
        pass
