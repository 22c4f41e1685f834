"""Texts that files once had, kept whole."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.store.versions import Versions


def test_a_kept_text_is_found_by_its_etag(tmp_path: Path) -> None:
    """And by no other, nor for another file."""
    versions = Versions(tmp_path / "versions")
    versions.keep(File.MEMORY, "- 茶\n")
    assert versions.text(File.MEMORY, etag("- 茶\n")) == "- 茶\n"
    assert versions.text(File.MEMORY, etag("other")) is None
    assert versions.text(File.SESSION, etag("- 茶\n")) is None


def test_a_damaged_version_is_none(tmp_path: Path) -> None:
    """A power cut may leave an empty or a torn file: nothing is concluded from it."""
    versions = Versions(tmp_path)
    versions.keep(File.MEMORY, "a text\n", synced=False)
    versions.paths(File.MEMORY)[0].write_bytes(b"a te")
    assert versions.text(File.MEMORY, etag("a text\n")) is None
    assert list(versions.texts(File.MEMORY)) == []


def test_all_texts_come_newest_first(tmp_path: Path) -> None:
    """With the first digits of their etags; files of others in the folder are passed over."""
    versions = Versions(tmp_path)
    for age, text in enumerate(("new\n", "old\n")):
        versions.keep(File.MEMORY, text)
        path = tmp_path / f"{File.MEMORY}.{etag(text)[:16]}"
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "MEMORY.md.mine").write_text("x")
    assert [text for _, text in versions.texts(File.MEMORY)] == ["new\n", "old\n"]


def test_twenty_and_thirty_days_are_kept(tmp_path: Path, now: datetime) -> None:
    """The newest always, however old it is."""
    versions = Versions(tmp_path)
    for number in range(25):
        versions.keep(File.MEMORY, f"text {number}\n")
        path = tmp_path / f"{File.MEMORY}.{etag(f'text {number}' + chr(10))[:16]}"
        age = (now - timedelta(days=number * 2 + 40)).timestamp()
        os.utime(path, (age, age))
    versions.prune(None)
    assert len(versions.paths(File.MEMORY)) == 20
    versions.prune(now)
    assert [text for _, text in versions.texts(File.MEMORY)] == ["text 0\n"]
