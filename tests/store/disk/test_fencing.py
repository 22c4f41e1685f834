"""What a holder names passes through its staging directory, and nothing does once that is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pipimem.errors import LockLost, StoreError
from pipimem.store.disk.appended_files import append_synced, set_aside
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.fencing import fenced_by, put_back, staged, take_staging
from pipimem.store.disk.files import put_whole, remove


@dataclass
class Holder:
    """A fence with a staging directory of its own; `lost` once another one took over."""

    folder: Path
    number: int
    lost: bool = False
    checks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.staging.mkdir()

    @property
    def staging(self) -> Path:
        return self.folder / f"staging-{self.number}"

    def check(self) -> None:
        self.checks.append(self.number)
        if self.lost:
            raise LockLost("lost")


def test_without_a_fence_nothing_is_staged(tmp_path: Path) -> None:
    """One host has none: a draft lies beside its target, as ever."""
    put_whole(tmp_path / "a", b"1")
    with staged(tmp_path / "a") as path:
        assert path == tmp_path / "a"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_a_holder_does_is_done(tmp_path: Path) -> None:
    """Written, exchanged, set aside, appended to, removed; nothing is staged afterwards."""
    holder = Holder(tmp_path, 1)
    with fenced_by(holder):
        put_whole(tmp_path / "a", b"1")
        put_whole(tmp_path / "b", b"2")
        displaced = displace(tmp_path / "a", tmp_path / "b")
        assert displaced == tmp_path / "a"
        append_synced(tmp_path / "b", b"3")
        set_aside(tmp_path / "b")
        remove(tmp_path / "a")
        remove(tmp_path / "a")
    assert (tmp_path / "b-0001").read_bytes() == b"13"
    assert list(holder.staging.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b-0001", "staging-1"]


def _change(folder: Path, what: str) -> None:
    match what:
        case "write":
            put_whole(folder / "a", b"1")
        case "remove":
            remove(folder / "a")
        case "append":
            append_synced(folder / "a", b"1")
        case "exchange":
            displace(folder / "a", folder / "b")
        case "set aside":
            set_aside(folder / "a")


@pytest.mark.parametrize("what", ["write", "remove", "append", "exchange", "set aside"])
def test_who_lost_the_lock_changes_nothing(tmp_path: Path, what: str) -> None:
    """Each change is refused before it is made."""
    holder = Holder(tmp_path, 1)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    holder.lost = True
    with fenced_by(holder), pytest.raises(LockLost):
        _change(tmp_path, what)
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes() == b"ab"
    assert not (tmp_path / "a-0001").exists()


def test_a_staging_directory_that_was_taken_refuses_what_was_about_to_happen(
    tmp_path: Path,
) -> None:
    """The former holder has checked, and is woken right before its exchange."""
    former, mine = Holder(tmp_path, 1), Holder(tmp_path, 2)
    (tmp_path / "a").write_bytes(b"new")
    (tmp_path / "b").write_bytes(b"old")
    with fenced_by(former), staged(tmp_path / "a") as ours:
        take_staging(former.staging, mine.staging, tmp_path)
        with pytest.raises(StoreError):
            displace(ours, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "b").read_bytes() == b"old"
    assert not former.staging.exists()


def test_what_is_staged_goes_where_it_belongs(tmp_path: Path) -> None:
    """Also into other folders; drafts and what was being removed go for good."""
    holder = Holder(tmp_path, 1)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a b").write_bytes(b"1")
    with fenced_by(holder), staged(tmp_path / "deep" / "a b") as ours:
        kept = ours.name
    (tmp_path / "deep" / "a b").rename(holder.staging / kept)
    (holder.staging / "half-0").write_bytes(b"draft")
    (holder.staging / "gone-0").write_bytes(b"removed")
    put_back(holder.staging, tmp_path)
    assert (tmp_path / "deep" / "a b").read_bytes() == b"1"
    assert list(holder.staging.iterdir()) == []
