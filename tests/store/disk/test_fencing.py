"""A holder is asked before each change whether it still has its lock, behind its draft."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pipimem.errors import LockLost
from pipimem.store.disk.appended_files import append_synced, set_aside
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.fencing import fenced_by, holds, under_job_fence
from pipimem.store.disk.files import put_whole, remove


@dataclass
class Holder:
    """A lock that is lost after so many checks."""

    checks: int
    name: str = "w/team/lock"
    fence: int = 7
    draft_tag: str = "half-lock-7"

    def check(self) -> None:
        self.checks -= 1
        if self.checks < 0:
            raise LockLost("lost")


def test_what_a_holder_does_is_done(tmp_path: Path) -> None:
    """Written, exchanged, set aside, appended to, removed."""
    with fenced_by(Holder(99)):
        put_whole(tmp_path / "a", b"1")
        put_whole(tmp_path / "b", b"2")
        assert displace(tmp_path / "a", tmp_path / "b") == tmp_path / "a"
        append_synced(tmp_path / "b", b"3")
        set_aside(tmp_path / "b")
        remove(tmp_path / "a")
        remove(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["b-0001"]
    assert (tmp_path / "b-0001").read_bytes() == b"13"


def test_whoever_lost_the_lock_changes_nothing(tmp_path: Path) -> None:
    """Each change is refused; a draft lies there under the number of its hold."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    with fenced_by(Holder(0)):
        for change in (
            lambda: put_whole(tmp_path / "a", b"1"),
            lambda: displace(tmp_path / "a", tmp_path / "b"),
            lambda: append_synced(tmp_path / "a", b"1"),
            lambda: set_aside(tmp_path / "a"),
            lambda: remove(tmp_path / "a"),
        ):
            with pytest.raises(LockLost):
                change()
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {"a": b"a", "b": b"b", ".a.half-lock-7.pipimem-tmp": b"1"}


def test_an_append_is_acknowledged_after_one_more_check(tmp_path: Path) -> None:
    """The data may be there: whoever gets this error looks for it."""
    with fenced_by(Holder(1)), pytest.raises(LockLost):
        append_synced(tmp_path / "a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


def test_what_is_set_aside_never_takes_a_name(tmp_path: Path) -> None:
    """A holder that was suspended after it had chosen the next number finds that taken."""
    (tmp_path / "log.jsonl").write_bytes(b"new")

    class Suspended(Holder):
        def check(self) -> None:
            (tmp_path / "log-0001.jsonl").write_bytes(b"of another holder")

    with fenced_by(Suspended(1)), pytest.raises(Exception, match="log"):
        set_aside(tmp_path / "log.jsonl")
    assert (tmp_path / "log-0001.jsonl").read_bytes() == b"of another holder"
    assert (tmp_path / "log.jsonl").read_bytes() == b"new"


def test_a_job_is_checked_beside_the_lock(tmp_path: Path) -> None:
    """What was decided under a job's lock counts only while that is held."""
    job, lock = Holder(0, "w/team/thought.lock"), Holder(9)
    with under_job_fence(job):
        assert holds() == ()
        with fenced_by(lock):
            assert holds() == (lock, job)
            with pytest.raises(LockLost):
                put_whole(tmp_path / "a", b"1")
