"""TextFile texts with care, replacing them whole."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from pipimem.errors import StoreError, UnreadableNote
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.files import (
    TEMPORARY,
    Stamp,
    own_text,
    prepare,
    read_text,
    refuse_unreadable_size,
    remove,
    resolved,
    stamp,
    sweep,
    temporary_for,
)


def replace(path: Path, text: str, root: Path) -> Stamp:
    """Puts a text in the place of a file, as a commit does."""
    target = resolved(path, root)
    ready = temporary_for(target, "0123456789abcdef")
    prepare(ready, target, text)
    mark = stamp(ready)
    assert mark is not None
    if displaced := displace(ready, target):
        remove(displaced)
    return mark


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    """An absent file is no error."""
    assert read_text(tmp_path / "MEMORY.md", tmp_path) is None
    assert stamp(tmp_path / "MEMORY.md") is None


@pytest.mark.parametrize(
    "text", ["", "a\r\nb\r\n", "\ufeff# 记忆\n", "no end", "lone\rreturn", "\u2028\x0b"]
)
def test_a_text_comes_back_byte_for_byte(tmp_path: Path, text: str) -> None:
    """No line end is translated, no mark stripped."""
    path = tmp_path / "MEMORY.md"
    replace(path, text, tmp_path)
    assert path.read_bytes() == text.encode()
    assert read_text(path, tmp_path) == text


def test_a_text_of_ours_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken for absent, a text that waits for its file would count as arrived, and the older one
    as a person's.
    """
    path = tmp_path / "text"
    assert own_text(path) is None
    path.write_text("x")

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "open", broken)
    with pytest.raises(StoreError, match="Check the disk"):
        own_text(path)


def test_a_stamp_that_cannot_be_told_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is not there has none."""
    assert stamp(tmp_path / "text") is None

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "stat", broken)
    with pytest.raises(StoreError, match="Check the disk"):
        stamp(tmp_path / "text")


def test_a_new_file_is_the_owners_alone(tmp_path: Path) -> None:
    """What was said in private is nobody else's on the machine."""
    replace(tmp_path / "MEMORY.md", "x", tmp_path)
    assert stat.S_IMODE((tmp_path / "MEMORY.md").stat().st_mode) == 0o600


def test_the_mode_people_gave_a_file_stays(tmp_path: Path) -> None:
    """A file shared with a group stays shared."""
    path = tmp_path / "MEMORY.md"
    path.write_text("old")
    path.chmod(0o664)
    replace(path, "new", tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_a_file_made_read_only_is_not_replaced(tmp_path: Path) -> None:
    """A rename could get round the mode; whoever took the right away meant it."""
    path = tmp_path / "MEMORY.md"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(StoreError, match="No permission"):
        replace(path, "new", tmp_path)
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "NUL"),
        ("# Notes\ncaf\u00e9".encode("latin-1"), "line 2: not UTF-8"),
        ("记忆".encode("gbk"), "line 1: not UTF-8"),
    ],
)
def test_what_is_no_text_is_refused_and_left(tmp_path: Path, data: bytes, says: str) -> None:
    """The sentence says where and what to do; the bytes stay."""
    path = tmp_path / "MEMORY.md"
    path.write_bytes(data)
    with pytest.raises(UnreadableNote, match=says):
        read_text(path, tmp_path)
    assert path.read_bytes() == data


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    """100 MB where a note should be: the size is in the sentence."""
    path = tmp_path / "MEMORY.md"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(UnreadableNote, match="100 MiB"):
        read_text(path, tmp_path)
    assert path.stat().st_size == 100 * 1024 * 1024


def test_a_byte_too_much_is_told_as_more_than_may_be(tmp_path: Path) -> None:
    """A sentence like “has 16 MiB; a note may have 16” would help nobody."""
    path = tmp_path / "MEMORY.md"
    with path.open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(UnreadableNote, match="has 17 MiB; a note may have 16"):
        read_text(path, tmp_path)


def test_what_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    """By its bytes; a text of just the length is read."""
    longest = "茶" * (16 * 1024 * 1024 // 3) + "x"
    refuse_unreadable_size("MEMORY.md", longest)
    path = tmp_path / "MEMORY.md"
    path.write_text(longest)
    assert read_text(path, tmp_path) == longest
    with pytest.raises(UnreadableNote, match=r"MEMORY.md would be too long.*may have 16 MiB"):
        refuse_unreadable_size("MEMORY.md", longest + "x")


def test_a_folder_or_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe would wait for ever."""
    (tmp_path / "MEMORY.md").mkdir()
    os.mkfifo(tmp_path / "SESSION.md")
    for name in ("MEMORY.md", "SESSION.md"):
        with pytest.raises(UnreadableNote, match="Move it away"):
            read_text(tmp_path / name, tmp_path)


def test_a_link_inside_the_workspace_stays_a_link(tmp_path: Path) -> None:
    """People keep a file elsewhere in the workspace; the target is replaced, not the link."""
    (tmp_path / "kept").mkdir()
    target = tmp_path / "kept" / "real.md"
    target.write_text("old")
    link = tmp_path / "MEMORY.md"
    link.symlink_to(target)
    replace(link, "new", tmp_path)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert read_text(link, tmp_path) == "new"


def test_a_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    """Neither read nor written: it may be anybody's file."""
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    root = tmp_path / "bot"
    root.mkdir()
    (root / "MEMORY.md").symlink_to(outside)
    with pytest.raises(UnreadableNote, match="out of the workspace"):
        read_text(root / "MEMORY.md", root)
    with pytest.raises(UnreadableNote, match="out of the workspace"):
        replace(root / "MEMORY.md", "x", root)
    assert outside.read_text() == "secret"


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "No permission"),
        (errno.EIO, "Check the disk"),
    ],
)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, says: str
) -> None:
    """Whichever step fails: one sentence, the old text whole, nothing left behind."""
    path = tmp_path / "MEMORY.md"
    path.write_text("old")

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(StoreError, match=says):
        replace(path, "new", tmp_path)
    monkeypatch.undo()
    assert path.read_text() == "old"


def test_leftovers_of_a_killed_process_are_swept(tmp_path: Path) -> None:
    """Only ours: a person's hidden files stay."""
    ours, theirs = tmp_path / f".MEMORY.md.1{TEMPORARY}", tmp_path / ".MEMORY.md.swp"
    ours.write_text("half")
    theirs.write_text("vim")
    sweep(tmp_path)
    assert not ours.exists()
    assert theirs.read_text() == "vim"
