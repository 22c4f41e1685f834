"""The few calls that change the disk, and what they say when it refuses."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.store.disk.syscalls import make_folder, store_errors, write_whole

from tests.cases import each


@each(
    ("number", "action", "says"),
    [
        (errno.ENOSPC, "write", "disk is full"),
        (errno.EDQUOT, "write", "disk is full"),
        (errno.EROFS, "write", "read-only"),
        (errno.EACCES, "read", "No permission"),
        (errno.EMFILE, "open", "ulimit"),
        (errno.ENOTDIR, "create", "Move it away"),
        (errno.ENOLCK, "lock", "cannot lock files"),
        (errno.EIO, "read", "Check the disk"),
    ],
)
def test_each_refusal_says_what_helps(number: int, action: str, says: str) -> None:
    """One sentence, with the file and what to do."""
    with (
        pytest.raises(StoreError, match=says) as caught,
        store_errors(action, Path("/bot/MEMORY.md")),
    ):
        raise OSError(number, os.strerror(number))
    assert "/bot/MEMORY.md" in str(caught.value)


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    """Not what would lie in the folder: nothing is there to be moved away."""
    (tmp_path / "versions").write_text("in the way")
    with (
        pytest.raises(StoreError, match=f"in the place of {tmp_path / 'versions'}. Move it away"),
        store_errors("read", tmp_path / "versions" / "MEMORY.md"),
    ):
        (tmp_path / "versions" / "MEMORY.md").read_bytes()


def test_a_write_that_is_taken_in_pieces_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal or a full pipe may take less at once."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    path = tmp_path / "a"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    write_whole(descriptor, b"0123456789")
    os.close(descriptor)
    assert path.read_bytes() == b"0123456789"


def test_folders_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    """All that are missing; one that is there keeps its mode."""
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        0o755, 0o700, 0o700,
    ]  # fmt: skip
