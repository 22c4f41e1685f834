"""The documents: every link leads somewhere, and the pages for newcomers stay short."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cases import each

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")],
    key=str,
)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)")


@each("page", PAGES)
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


def test_each_example_is_run_by_a_test() -> None:
    """Units of systemd are found by their ending (tests/release/test_services.py)."""
    folder = ROOT / "examples"
    programs = {path.name for ending in ("py", "sh") for path in folder.rglob(f"*.{ending}")}
    tests = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    unnamed = {name for name in programs if not any(f'"{name}"' in text for text in tests)}
    assert unnamed == set()


@each(
    ("name", "guide"),
    [("README.md", "docs/guide"), ("README.zh-CN.md", "docs/guide/zh-CN")],
)
def test_the_table_of_interfaces_leads_to_each(name: str, guide: str) -> None:
    """Tools, MCP, web view, DingTalk, and every framework that the guide has an adapter or recipe for."""
    table = (ROOT / name).read_text("utf-8")
    pages = [f"{guide}/{page}.md" for page in ("tools", "mcp", "ui", "dingtalk", "frameworks")]
    others = ["docs/reference/api.md", "examples/README.md", "integrations/astrbot/README.md"]
    anchors = re.findall(r"\]\(#([^)]+)\)", (ROOT / guide / "frameworks.md").read_text("utf-8"))
    wanted = [*pages, *others, *(f"{guide}/frameworks.md#{anchor}" for anchor in anchors)]
    assert [link for link in wanted if f"]({link})" not in table] == []


@each(
    ("name", "most"),
    [("README.md", 150), ("README.zh-CN.md", 150), ("docs/design/architecture.md", 120)],
)
def test_pages_for_newcomers_stay_short(name: str, most: int) -> None:
    """What is longer is not read."""
    assert len((ROOT / name).read_text("utf-8").splitlines()) <= most


def test_the_guide_has_the_same_pages_in_both_languages() -> None:
    """Each page of the guide is there in Chinese too."""
    guide = ROOT / "docs" / "guide"
    assert {p.name for p in guide.glob("*.md")} == {p.name for p in (guide / "zh-CN").glob("*.md")}
