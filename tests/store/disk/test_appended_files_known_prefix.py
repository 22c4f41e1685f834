"""What was read of a file, and whether it still stands."""

from __future__ import annotations

from pathlib import Path

from pipimem.store.disk.appended_files import KnownPrefix


def test_a_file_that_has_grown_still_stands(tmp_path: Path) -> None:
    """Also under another name or inode: a copy has the same bytes."""
    path, copy = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"one\ntwo\n")
    prefix = KnownPrefix.of(path, 4)
    assert prefix.still_stands(path)
    copy.write_bytes(b"one\nthree\n")
    assert prefix.still_stands(copy)
    prefix.take(b"three\n")
    assert prefix.still_stands(copy)


def test_a_file_that_is_shorter_or_gone_does_not(tmp_path: Path) -> None:
    """Of nothing that was read, everything still stands."""
    path = tmp_path / "a"
    assert KnownPrefix().still_stands(path)
    path.write_bytes(b"one\ntwo\n")
    prefix = KnownPrefix.of(path, 8)
    path.write_bytes(b"one\n")
    assert not prefix.still_stands(path)
    path.unlink()
    assert not prefix.still_stands(path)
