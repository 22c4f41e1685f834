"""Of all processes one does the idle work."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pipimem.store import leader_lock as module
from pipimem.store.leader_lock import LeaderLock

_HOLDER = """
import sys, pathlib
from pipimem.store.leader_lock import LeaderLock
print(LeaderLock(pathlib.Path(sys.argv[1])).take("the other one"), flush=True)
sys.stdin.read()
"""


def test_the_duty_is_one_processes_until_it_ends(tmp_path: Path) -> None:
    """Another one is told whose it is; a killed holder frees it at once."""
    path = tmp_path / ".pipimem" / "idle.lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        mine = LeaderLock(path)
        assert not mine.take("me")
        assert mine.holder() == "the other one"
        other.kill()
        other.wait()
        assert mine.take("me")
        assert mine.holder() == "me"


def test_the_duty_can_be_given_back(tmp_path: Path) -> None:
    """Taking it twice is no second taking; given back, another has it."""
    path = tmp_path / "idle.lock"
    one, two = LeaderLock(path), LeaderLock(path)
    assert (one.take("one"), one.take("one"), two.take("two")) == (True, True, False)
    one.give_back()
    one.give_back()
    assert two.take("two")


def test_a_deleted_lock_is_taken_anew(tmp_path: Path) -> None:
    """A file that is gone keeps nobody out: who held the lock has it again, unless another was
    first.
    """
    path = tmp_path / "idle.lock"
    one, two = LeaderLock(path), LeaderLock(path)
    assert one.take("one")
    path.unlink()
    assert one.take("one")
    assert not two.take("two")
    path.unlink()
    assert two.take("two")
    assert not one.take("one")
    assert one.holder() == "two"


def test_threads_that_take_a_deleted_lock_at_once_have_it_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The visits of two channels find it gone: one takes it anew, the other waits and has it too."""
    lock = LeaderLock(tmp_path / "idle.lock")
    assert lock.take("me")
    lock.path.unlink()
    is_taking, may_go_on = threading.Event(), threading.Event()

    def slow_at_first(folder: Path) -> None:
        if not is_taking.is_set():
            is_taking.set()
            may_go_on.wait(60)
        folder.mkdir(exist_ok=True)

    monkeypatch.setattr(module, "make_folder", slow_at_first)
    taken: list[bool] = []
    threads = [threading.Thread(target=lambda: taken.append(lock.take("me"))) for _ in range(2)]
    threads[0].start()
    assert is_taking.wait(60)
    threads[1].start()
    threads[1].join(0.3)
    may_go_on.set()
    for thread in threads:
        thread.join()
    assert taken == [True, True]
    assert lock.is_held


def test_a_lock_that_says_nothing_is_somebody_elses(tmp_path: Path) -> None:
    """Without a name there is still an answer."""
    assert LeaderLock(tmp_path / "idle.lock").holder() == "another process"


def test_whether_it_is_free_can_be_asked_without_taking_it(tmp_path: Path) -> None:
    """Nothing is made for it."""
    one, two = LeaderLock(tmp_path / "idle.lock"), LeaderLock(tmp_path / "idle.lock")
    assert two.is_free()
    assert not two.path.exists()
    assert one.take("one")
    assert not two.is_free()
    one.give_back()
    assert two.is_free()
    assert two.holder() == "one"
