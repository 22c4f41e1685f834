"""Who has not read a text cannot have changed it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pipimem.notes.notes import etag
from pipimem.store.disk.files import Reading, prepare, read
from pipimem.store.disk.sightings import is_unread


def laid(path: Path, text: str) -> Path:
    """A text as a commit lays it in its place; skipped where the file system notes no readings."""
    prepare(path, path, text, etag(text))
    if not hasattr(os, "ST_NOATIME") or os.statvfs(path).f_flag & os.ST_NOATIME:
        pytest.skip("this file system does not note readings")
    return path


def reading_of(path: Path) -> Reading:
    """What the store reads."""
    reading = read(path, path.parent)
    assert reading is not None
    return reading


def test_our_own_reading_leaves_no_trace(tmp_path: Path) -> None:
    """However often the runtime looks, nobody has read it."""
    path = laid(tmp_path / "MEMORY.md", "a text\n")
    assert all(is_unread(reading_of(path).mark, etag("a text\n")) for _ in range(3))


def test_an_editor_that_loads_it_is_noted(tmp_path: Path) -> None:
    """Any program that reads."""
    path = laid(tmp_path / "MEMORY.md", "a text\n")
    path.read_text()
    assert not is_unread(reading_of(path).mark, etag("a text\n"))


def test_a_save_without_reading_is_proved(tmp_path: Path) -> None:
    """Written in place over a text nobody had read: the mark of that text still stands there."""
    path = laid(tmp_path / "MEMORY.md", "a text\n")
    path.write_text("another\n")
    mark = reading_of(path).mark
    assert is_unread(mark, etag("a text\n"))
    assert not is_unread(mark, etag("another\n"))


def test_an_unknown_text_is_never_unread() -> None:
    """Without an etag there is no proof."""
    assert not is_unread(-1, "")
    assert not is_unread(0, "")
