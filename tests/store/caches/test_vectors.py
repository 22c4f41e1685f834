"""`vectors.bin`: believed only when it is whole and of the same embedder."""

from __future__ import annotations

from pathlib import Path

from pipimem.store.caches import vectors as vectors_file


def test_vectors_are_kept_for_their_embedder(tmp_path: Path) -> None:
    """What another one made is as good as nothing; names are anything."""
    vectors_file.save(tmp_path, "local\nname", b"\x00\n\xff")
    assert vectors_file.load(tmp_path, "local\nname") == b"\x00\n\xff"
    assert vectors_file.load(tmp_path, "another") == b""


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    """A flipped bit, a cut, an empty file."""
    vectors_file.save(tmp_path, "toy", b"0123456789")
    path = tmp_path / vectors_file.NAME
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"8", b"", b"\n", b"2" + whole[1:]):
        path.write_bytes(damaged)
        assert vectors_file.load(tmp_path, "toy") == b""
    vectors_file.drop(tmp_path)
    vectors_file.drop(tmp_path)
    assert not path.exists()
