"""The documents: every link leads somewhere, and the pages for newcomers stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")],
    key=str,
)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A moved page takes its links along."""
    targets = _LINK.findall(page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_table_of_examples_has_each_of_them() -> None:
    """Who looks for an example finds it in one place."""
    folder = ROOT / "examples"
    linked = set(_LINK.findall((folder / "README.md").read_text("utf-8")))
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    assert files - linked == {"README.md"}


@pytest.mark.parametrize(
    ("name", "most"),
    [("README.md", 165), ("README.zh-CN.md", 165), ("docs/design/architecture.md", 120)],
)
def test_pages_for_newcomers_stay_short(name: str, most: int) -> None:
    """What is longer is not read."""
    assert len((ROOT / name).read_text("utf-8").splitlines()) <= most


def test_the_guide_has_the_same_pages_in_both_languages() -> None:
    """Each page of the guide is there in Chinese too."""
    guide = ROOT / "docs" / "guide"
    assert {p.name for p in guide.glob("*.md")} == {p.name for p in (guide / "zh-CN").glob("*.md")}
