"""The files of a source."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.source_files import opened_source


def test_links_and_hidden_folders_are_no_part_of_a_folder(tmp_path: Path) -> None:
    """A link may lead to anything of its owner's."""
    (tmp_path / "s" / ".git").mkdir(parents=True)
    (tmp_path / "s" / ".git" / "config").write_text("x")
    (tmp_path / "secret.md").write_text("x")
    (tmp_path / "s" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "s" / "sub").symlink_to(tmp_path)
    (tmp_path / "s" / "a.md").write_text("x")
    with opened_source(tmp_path / "s") as files:
        assert files.names == ("a.md",)


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """200 MB in 200 kB."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b" " * (200 << 20))
    with (
        pytest.raises(ArchiveError, match="would unpack to 210 MB"),
        opened_source(tmp_path / "x.zip"),
    ):
        pass


def test_a_text_that_is_too_long_or_no_text_is_told(tmp_path: Path) -> None:
    """In a sentence with its name."""
    (tmp_path / "a.md").write_bytes(b"x" * (17 << 20))
    (tmp_path / "b.md").write_bytes(b"\xff\xfe\x00")
    with opened_source(tmp_path) as files:
        with pytest.raises(ArchiveError, match=r"a\.md is longer than a text of 16 MiB"):
            files.text("a.md")
        with pytest.raises(ArchiveError, match=r"b\.md is not UTF-8 text"):
            files.text("b.md")


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    """Of all files together."""
    (tmp_path / "a.md").write_bytes(b"x" * 100)
    (tmp_path / "b.md").write_bytes(b"x" * 50)
    told: list[int] = []
    with opened_source(tmp_path) as files:
        files.report_to(told.append)
        assert files.size == 150
        assert (len(files.text("a.md")), len(files.text("b.md"))) == (100, 50)
    assert told[-1] == 150
