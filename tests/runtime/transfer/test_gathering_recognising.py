"""Which kind a source is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.gathering import FORMATS, format_of
from pipimem.runtime.transfer.source_files import opened_source

from tests.runtime.transfer.formats.fixtures import FIXTURES

KINDS = sorted(path.name for path in FIXTURES.iterdir())


def test_each_format_has_a_fixture() -> None:
    """And no fixture is of none."""
    assert sorted(one.name for one in FORMATS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_is_known_for_what_it_is(kind: str, tmp_path: Path) -> None:
    """As a folder and packed in a ZIP file."""
    with opened_source(FIXTURES / kind) as files:
        assert format_of(files).name == kind
    packed = shutil.make_archive(str(tmp_path / "x"), "zip", FIXTURES / kind)
    with opened_source(Path(packed)) as files:
        assert format_of(files).name == kind


def test_what_is_nothing_that_is_known_is_told(tmp_path: Path) -> None:
    """With the names that --from takes; a name is believed."""
    (tmp_path / "a.txt").write_text("hello")
    with opened_source(tmp_path / "a.txt") as files:
        with pytest.raises(ArchiveError, match="Say with --from what it is: chatgpt, "):
            format_of(files)
        assert format_of(files, "log").name == "log"
