"""The documents: every link leads somewhere, and the pages for newcomers stay short."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pipimem
from pipimem.runtime.deprecated import OLD_FILE_NAMES, OLD_NAMES

from tests.cases import each

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "pipimem"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")],
    key=str,
)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)")
# Pages that name files of the repository; `docs/guide/moving.md` names files of other projects.
NAMING = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "design").glob("*.md"))]
_PATH = re.compile(r"`((?:[\w.*-]+/)*[\w*-]+\.(?:py|md|txt|toml|sql|patch)|(?:[\w.-]+/)+)`")
_CODE = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
# Pages about old names, and the page that is made of api.in.md, with signatures that are no code.
UNCHECKED = {"CHANGELOG.md", "upgrading.md", "api.md"}
OLD_ROOT_NAMES = {*pipimem._MOVED_TO, *pipimem._RENAMED}


@each("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    """A moved page takes its links along."""
    targets = _LINK.findall(page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@each("page", NAMING)
def test_named_files_are_there(page: Path) -> None:
    """A path begins in `pipimem/` or at the top; a bare name is that of some file."""
    paths = {*_PATH.findall(page.read_text("utf-8"))}
    assert sorted(path for path in paths if not _is_there(path)) == []


def _is_there(path: str) -> bool:
    if path.startswith(".pipimem/"):
        return True  # in a channel
    if "/" in path:
        return any(any(root.glob(path)) for root in (ROOT, HOUSE))
    folders = (HOUSE, ROOT / "tests", ROOT / "docs")
    return any(ROOT.glob(path)) or any(any(folder.rglob(path)) for folder in folders)


@each("page", [page for page in PAGES if page.name not in UNCHECKED])
def test_python_of_the_pages_has_no_old_names(page: Path) -> None:
    """Names of 0.2 warn; readers copy the code of a page."""
    found: list[str] = []
    for code in _CODE.findall(page.read_text("utf-8")):
        for node in ast.walk(ast.parse(textwrap.dedent(code))):
            found += _old_names(node)
    assert found == []


def _old_names(node: ast.AST) -> list[str]:
    """Return the names of 0.2 in an import, in a parameter, or on what a channel's name has."""
    match node:
        case ast.ImportFrom(module="pipimem", names=aliases):
            return [name.name for name in aliases if name.name in OLD_ROOT_NAMES]
        case ast.keyword(arg="sees_from"):
            return ["sees_from"]
        case ast.Attribute(value=ast.Attribute(attr="notes" | "history" | "talk")):
            return []  # a name of a part, such as channel.notes.entries
        case ast.Attribute(value=value, attr=name) if name in OLD_NAMES:
            return [name] if "channel" in ast.unparse(value) else []
        case _:
            return []


@each("guide", ["docs/guide", "docs/guide/zh-CN"])
def test_upgrading_has_each_old_name(guide: str) -> None:
    """A warning leads here; errors and settings are named as groups."""
    text = (ROOT / guide / "upgrading.md").read_text("utf-8")
    results = pipimem._MOVED["pipimem.results"].split()
    names = {*OLD_NAMES, *OLD_FILE_NAMES, *pipimem._RENAMED, *results, "sees_from"}
    missing = {name for name in names if not re.search(rf"\b{name}\b", text, re.ASCII)}
    assert missing == set()


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
