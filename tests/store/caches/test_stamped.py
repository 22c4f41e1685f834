"""Files that save time: believed only whole, and under the stamp they were kept under."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.store.caches import stamped
from pipimem.store.disk.files import remove


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    """Under its stamp, to the byte, for its owner alone."""
    stamped.save(tmp_path / stamped.WORDS, "stamp", '{"词": 1}\n'.encode())
    assert stamped.load(tmp_path / stamped.WORDS, "stamp").decode() == '{"词": 1}\n'
    assert (tmp_path / stamped.WORDS).stat().st_mode & 0o777 == 0o600


def test_another_tokenizer_does_not_believe_it(tmp_path: Path) -> None:
    """It would find other words in the same texts."""
    stamped.save(tmp_path / stamped.WORDS, "stamp", b"{}")
    assert stamped.load(tmp_path / stamped.WORDS, "another stamp").decode() == ""


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data + b" ", lambda data: b"", lambda data: b"\xff"],
)
def test_a_damaged_file_is_no_file(tmp_path: Path, damage) -> None:
    """Cut off, added to, emptied, not even text."""
    stamped.save(tmp_path / stamped.WORDS, "stamp", b'{"a": 1}')
    path = tmp_path / stamped.WORDS
    path.write_bytes(damage(path.read_bytes()))
    assert stamped.load(tmp_path / stamped.WORDS, "stamp").decode() == ""


def test_where_there_is_none_there_is_nothing(tmp_path: Path) -> None:
    """Also after it was taken away, twice."""
    assert stamped.load(tmp_path / stamped.WORDS, "stamp").decode() == ""
    stamped.save(tmp_path / stamped.WORDS, "stamp", b"{}")
    remove(tmp_path / stamped.WORDS)
    remove(tmp_path / stamped.WORDS)
    assert stamped.load(tmp_path / stamped.WORDS, "stamp").decode() == ""


def test_vectors_are_kept_for_their_embedder(tmp_path: Path) -> None:
    """What another one made is as good as nothing; names are anything."""
    stamped.save(tmp_path / stamped.VECTORS, "local\nname", b"\x00\n\xff")
    assert stamped.load(tmp_path / stamped.VECTORS, "local\nname") == b"\x00\n\xff"
    assert stamped.load(tmp_path / stamped.VECTORS, "another") == b""


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    """A flipped bit, a cut, an empty file."""
    stamped.save(tmp_path / stamped.VECTORS, "toy", b"0123456789")
    path = tmp_path / stamped.VECTORS
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"8", b"", b"\n", b"2" + whole[1:]):
        path.write_bytes(damaged)
        assert stamped.load(tmp_path / stamped.VECTORS, "toy") == b""
    remove(tmp_path / stamped.VECTORS)
    remove(tmp_path / stamped.VECTORS)
    assert not path.exists()
