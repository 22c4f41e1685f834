"""The words of entries on disk, which are believed only whole and fresh."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.store.caches import words as words_file


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    """Under its stamp, to the byte, for its owner alone."""
    words_file.save(tmp_path, "stamp", '{"词": 1}\n')
    assert words_file.load(tmp_path, "stamp") == '{"词": 1}\n'
    assert (tmp_path / words_file.NAME).stat().st_mode & 0o777 == 0o600


def test_another_tokenizer_does_not_believe_it(tmp_path: Path) -> None:
    """It would find other words in the same texts."""
    words_file.save(tmp_path, "stamp", "{}")
    assert words_file.load(tmp_path, "another stamp") == ""


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data + b" ", lambda data: b"", lambda data: b"\xff"]
)
def test_a_damaged_file_is_no_file(tmp_path: Path, damage) -> None:
    """Cut off, added to, emptied, not even text."""
    words_file.save(tmp_path, "stamp", '{"a": 1}')
    path = tmp_path / words_file.NAME
    path.write_bytes(damage(path.read_bytes()))
    assert words_file.load(tmp_path, "stamp") == ""


def test_where_there_is_none_there_is_nothing(tmp_path: Path) -> None:
    """Also after it was taken away, twice."""
    assert words_file.load(tmp_path, "stamp") == ""
    words_file.save(tmp_path, "stamp", "{}")
    words_file.drop(tmp_path)
    words_file.drop(tmp_path)
    assert words_file.load(tmp_path, "stamp") == ""
