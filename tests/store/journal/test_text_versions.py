"""Which texts are kept, and for how long."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.notes.kinds import File, etag
from pipimem.store.disk import files
from pipimem.store.journal import text_versions as versions
from pipimem.store.journal.text_versions import Versions


def kept(folder: Path, file: File, text: str, when: datetime) -> None:
    """A text kept at a time."""
    Versions(folder).keep(file, text)
    (path,) = folder.glob(f"{file}.{etag(text)[:16]}")
    os.utime(path, (when.timestamp(), when.timestamp()))


def texts(folder: Path) -> set[str]:
    """What is there."""
    return {path.read_text() for path in folder.iterdir()}


def test_old_ones_go_and_the_newest_of_each_file_stays(tmp_path: Path, now: datetime) -> None:
    """Thirty days; a file nobody touched keeps its last text for ever."""
    kept(tmp_path, File.MEMORY, "a", now - timedelta(days=40))
    kept(tmp_path, File.MEMORY, "b", now - timedelta(days=29))
    kept(tmp_path, File.MEMORY, "c", now)
    kept(tmp_path, File.SESSION, "d", now - timedelta(days=400))
    Versions(tmp_path).prune(now)
    assert texts(tmp_path) == {"b", "c", "d"}


def test_at_most_so_many_a_file(
    tmp_path: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest go first."""
    monkeypatch.setattr(versions, "_KEPT", 20)
    for number in range(25):
        kept(tmp_path, File.MEMORY, f"{number}", now - timedelta(minutes=number))
    Versions(tmp_path).prune(None)
    assert texts(tmp_path) == {f"{number}" for number in range(20)}


def test_all_together_have_a_size(
    tmp_path: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest of any file go first, but never the newest of one."""
    monkeypatch.setattr(versions, "_BYTES", 25)
    for number, file in enumerate((File.MEMORY, File.SESSION, File.MEMORY, File.SESSION)):
        kept(tmp_path, file, f"{number}" * 10, now - timedelta(minutes=10 - number))
    Versions(tmp_path).prune(now)
    assert texts(tmp_path) == {"2" * 10, "3" * 10}
    monkeypatch.setattr(versions, "_BYTES", 5)
    Versions(tmp_path).prune(now)
    assert texts(tmp_path) == {"2" * 10, "3" * 10}


def test_the_past_of_a_forgetting_keeps_its_order(tmp_path: Path, now: datetime) -> None:
    """Newest first, however fast they were written; every other text of the file goes."""
    kept(tmp_path, File.MEMORY, "with the words", now)
    kept(tmp_path, File.SESSION, "another file", now)
    past = [f"text {number}" for number in range(30)]
    Versions(tmp_path).keep_only(File.MEMORY, past, now)
    assert [
        Versions(tmp_path).text(File.MEMORY, name) for name in Versions(tmp_path).names(File.MEMORY)
    ] == past
    assert texts(tmp_path) == {*past, "another file"}


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize("done", range(21))
def test_so_does_the_past_of_one_that_is_cut_off(
    tmp_path: Path, now: datetime, monkeypatch: pytest.MonkeyPatch, done: int, is_before: bool
) -> None:
    """Killed right before or behind any call that gives a name or a time or takes a name away,
    and done once more: a text that was reached and one that was not keep their order.
    """
    versions = Versions(tmp_path)
    old = [f"text {number}" for number in range(6)]
    versions.keep_only(File.MEMORY, old, now)
    # The first and the third lose a line; the others stay as they are.
    new = ["0 without it", old[1], "2 without it", *old[3:]]

    def in_order() -> list[str]:
        known = (versions.text(File.MEMORY, name) for name in versions.names(File.MEMORY))
        return list(dict.fromkeys(new[old.index(text)] if text in old else text for text in known))

    reached = iter(range(done))

    def killed(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            is_last = next(reached, None) is None
            if is_last and is_before:
                raise KeyboardInterrupt
            answer = real(*args, **options)
            if is_last:
                raise KeyboardInterrupt
            return answer

        return call

    later = now + timedelta(minutes=1)
    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(os, "utime", killed(os.utime))
        patch.setattr(files, "give_name", killed(files.give_name))
        patch.setattr(files, "take_name", killed(files.take_name))
        versions.keep_only(File.MEMORY, new, later)
    assert in_order() == new
    versions.keep_only(File.MEMORY, in_order(), later)
    assert [versions.text(File.MEMORY, name) for name in versions.names(File.MEMORY)] == new


def test_a_text_that_stood_twice_is_as_young_as_the_newer(tmp_path: Path, now: datetime) -> None:
    """A restore brings an older text once more."""
    versions = Versions(tmp_path)
    versions.keep_only(File.MEMORY, ["a", "b", "a"], now)
    assert [versions.text(File.MEMORY, name) for name in versions.names(File.MEMORY)] == ["a", "b"]


@pytest.mark.parametrize("damage", [b"", b"half", b"\xff"])
def test_a_damaged_version_is_written_again(tmp_path: Path, damage: bytes) -> None:
    """That a file has its name says nothing of what it holds."""
    versions = Versions(tmp_path)
    versions.keep(File.MEMORY, "tea\n")
    (path,) = versions.paths(File.MEMORY)
    path.write_bytes(damage)
    versions.keep(File.MEMORY, "tea\n")
    assert versions.text(File.MEMORY, etag("tea\n")) == "tea\n"
