"""`vectors.bin`: believed only when it is whole and of the same embedder."""

from __future__ import annotations

from pathlib import Path

from pipimem.store.caches import stamped
from pipimem.store.disk.files import remove


def test_vectors_are_kept_for_their_embedder(tmp_path: Path) -> None:
    """What another one made is as good as nothing; names are anything."""
    stamped.save(tmp_path / stamped.VECTORS, stamped.stamp_of("local\nname"), b"\x00\n\xff")
    assert (
        stamped.load(tmp_path / stamped.VECTORS, stamped.stamp_of("local\nname")) == b"\x00\n\xff"
    )
    assert stamped.load(tmp_path / stamped.VECTORS, stamped.stamp_of("another")) == b""


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    """A flipped bit, a cut, an empty file."""
    stamped.save(tmp_path / stamped.VECTORS, stamped.stamp_of("toy"), b"0123456789")
    path = tmp_path / stamped.VECTORS
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"8", b"", b"\n", b"2" + whole[1:]):
        path.write_bytes(damaged)
        assert stamped.load(tmp_path / stamped.VECTORS, stamped.stamp_of("toy")) == b""
    remove(tmp_path / stamped.VECTORS)
    remove(tmp_path / stamped.VECTORS)
    assert not path.exists()
