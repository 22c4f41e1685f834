"""A prepared file takes another's place, and what lay there can still be looked at."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.store.disk import exchange
from pipimem.store.disk.exchange import displace


def laid_out(folder: Path) -> tuple[Path, Path]:
    """A prepared text, and one in its place."""
    prepared, target = folder / ".a.0123.pipimem-tmp", folder / "a"
    prepared.write_text("new")
    target.write_text("old")
    return prepared, target


def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that does not know the call."""
    monkeypatch.setattr(exchange, "_renamed", lambda *_: errno.ENOSYS)


@pytest.mark.parametrize("knows", [True, False])
def test_what_is_displaced_stays_in_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    """Also what an editor, that had it open, writes to it afterwards."""
    prepared, target = laid_out(tmp_path)
    if not knows:
        without_exchange(monkeypatch)
    with target.open("a") as editor:
        displaced = displace(prepared, target)
        editor.write(" and typed")
    assert target.read_text() == "new"
    assert displaced is not None
    assert displaced.read_text() == "old and typed"
    assert sorted(tmp_path.iterdir()) == sorted([target, displaced])


@pytest.mark.parametrize("knows", [True, False])
def test_a_new_name_displaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    """The first text of a file."""
    prepared, target = laid_out(tmp_path)
    target.unlink()
    if not knows:
        without_exchange(monkeypatch)
    assert displace(prepared, target) is None
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_a_name_that_appears_in_between_is_displaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody makes the file between our look and our deed: theirs is not overwritten."""
    prepared, target = laid_out(tmp_path)
    target.unlink()
    real = exchange.put_new

    def late(*args: Path) -> None:
        if not target.exists():
            target.write_text("theirs")
        real(*args)

    monkeypatch.setattr(exchange, "put_new", late)
    displaced = displace(prepared, target)
    assert displaced is not None
    assert (target.read_text(), displaced.read_text()) == ("new", "theirs")


def test_where_there_are_no_second_names_a_copy_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT knows neither exchange nor links."""
    prepared, target = laid_out(tmp_path)
    without_exchange(monkeypatch)

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    displaced = displace(prepared, target)
    assert displaced is not None
    assert (target.read_text(), displaced.read_text()) == ("new", "old")


def test_a_disk_that_refuses_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both texts are where they were."""
    prepared, target = laid_out(tmp_path)
    monkeypatch.setattr(exchange, "_renamed", lambda *_: errno.EROFS)
    with pytest.raises(StoreError, match="read-only"):
        displace(prepared, target)
    assert (target.read_text(), prepared.read_text()) == ("old", "new")
