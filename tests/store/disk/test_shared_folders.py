"""Whether the attributes that a file system shows are believed."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest
from pipimem.store.disk.files import stamp
from pipimem.store.disk.shared_folders import SharedFolder, share, shared_folder, shared_folders_in

from tests.fleet.old_stamps import old_stamps


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a channel."""
    path = tmp_path / "bot" / "channels" / "team" / ".pipimem" / "journal.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("one\n")
    return path


def channel(file: Path, *, is_listening: bool = True) -> SharedFolder:
    return share(file.parent.parent, lambda: is_listening)


def test_a_notice_shows_the_true_stamp(file: Path) -> None:
    """It stays the same then, as long as the file system shows the same of the file."""
    shared = channel(file)
    with old_stamps(file.parent):
        before = stamp(file)
        file.write_text("one\ntwo\n")
        assert stamp(file) == before
        shared.distrust()
        news = stamp(file)
        assert news != before
        assert stamp(file) == news
    assert stamp(file) == news


def test_what_changes_behind_a_notice_is_shown_where_the_file_system_shows_it(file: Path) -> None:
    """A person's hand on this host needs no notice."""
    shared = channel(file)
    shared.distrust()
    before = stamp(file)
    file.write_text("by hand\n")
    assert stamp(file) != before


def test_until_the_newest_record_was_read_each_look_opens(file: Path) -> None:
    """A notice may come before the file system gives what it tells of."""
    shared = channel(file)
    shared.read(3)
    with old_stamps(file.parent):
        shared.distrust(4)
        before = stamp(file)
        file.write_text("one\ntwo\n")
        late = stamp(file)
        assert late != before
        shared.read(4)
        file.write_text("one\ntwo\nthree\n")
        assert stamp(file) == late


def test_without_notices_each_look_opens(file: Path) -> None:
    """A host that is cut off is told nothing."""
    shared = channel(file, is_listening=False)
    with old_stamps(file.parent):
        before = stamp(file)
        file.write_text("one\ntwo\n")
        assert stamp(file) != before
    assert shared_folder(file.parent.parent) is shared


def test_another_holder_of_the_lock_is_a_notice(file: Path) -> None:
    """The same number again is none: nobody else wrote meanwhile."""
    shared = channel(file)
    with old_stamps(file.parent):
        shared.locked(1)
        before = stamp(file)
        file.write_text("one\ntwo\n")
        shared.locked(1)
        assert stamp(file) == before
        shared.locked(3)
        assert stamp(file) != before


def test_a_file_that_went_has_no_stamp(file: Path) -> None:
    """Whatever is shown of it; one that cannot be opened has the stamp that is shown."""
    shared = channel(file)
    with old_stamps(file.parent):
        assert stamp(file) is not None
        file.unlink()
        shared.distrust()
        assert [stamp(file), stamp(file)] == [None, None]
    pipe = file.with_name("pipe")
    os.mkfifo(pipe)
    assert stamp(pipe) is not None


def test_a_folder_that_nobody_has_in_use_is_forgotten(file: Path) -> None:
    """And its files are asked for as on one host."""
    shared = channel(file)
    root = file.parents[3]
    assert shared_folders_in(root / "channels") == [shared]
    assert shared_folders_in(root) == []
    del shared
    assert shared_folders_in(root / "channels") == []
    assert shared_folder(file.parent.parent) is None


def test_a_file_that_was_not_there_is_found_when_it_comes(file: Path) -> None:
    """Until then it is opened once a notice, like any other."""
    shared, late = channel(file), file.with_name("ledger.json")
    shared.distrust()
    assert [stamp(late), stamp(late)] == [None, None]
    late.write_text("{}")
    assert stamp(late) is not None


class _SlowPath(os.PathLike[str]):
    """A folder whose name takes a while, so that somebody is in the middle of adding it."""

    def __init__(self, path: Path) -> None:
        self.path, self.is_asked = path, threading.Event()

    def __fspath__(self) -> str:
        self.is_asked.set()
        time.sleep(0.3)
        return os.fspath(self.path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_fork_in_the_middle_of_adding_one_leaves_the_child_free(tmp_path: Path) -> None:
    """The child adds its own: it does not wait for a lock of a thread that it does not have."""
    slow = _SlowPath(tmp_path / "one")
    thread = threading.Thread(target=share, args=(slow, lambda: True))
    thread.start()
    slow.is_asked.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fork beside threads, which is what happens here
        child = os.fork()
    if not child:
        signal.alarm(5)
        share(tmp_path / "two", lambda: True)
        os._exit(0)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    share(tmp_path / "three", lambda: True)
