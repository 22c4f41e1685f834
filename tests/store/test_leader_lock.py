"""Of all processes one does the idle work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_a_lock_that_says_nothing_is_somebody_elses(tmp_path: Path) -> None:
    """Without a name there is still an answer."""
    assert LeaderLock(tmp_path / "idle.lock").holder() == "another process"
