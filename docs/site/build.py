"""Builds the documentation as a site, in both languages: `python docs/site/build.py OUT`.

The site has the folders of the repository, so that a link that works in one works in the other.
zensical (`requirements/release.txt`) builds all pages twice, for readers of English and of Chinese;
of the second build the site takes the Chinese pages, and the index of the search, which cuts
Chinese text into words only if it is told that there is some.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
_TAKEN = ("[A-Z]*.md", "LICENSE", "docs", "examples", "integrations")
_LEFT = shutil.ignore_patterns("__pycache__", "site", "generate.py", "*.in.md")
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)\)")
# Of the two front pages: the heading of the table of all documents.
_TABLES = {"en": ("README.md", "## Documentation"), "zh": ("README.zh-CN.md", "## 更多")}


def is_chinese(page: PurePosixPath) -> bool:
    """Whether a page, by its path in the repository, is one of the Chinese ones."""
    return "zh-CN" in page.parts or page.stem.endswith(".zh-CN")


def navigation(tree: Path, language: str) -> list[object]:
    """Returns zensical's `nav`: the rows of the front page's table of documents.

    A page that the table leaves out stands behind those of its folder that it names.
    """
    front, heading = _TABLES[language]
    table = (tree / front).read_text("utf-8").split(f"\n{heading}\n")[1]
    rows = [line.strip("|").split("|") for line in table.splitlines() if _LINK.search(line)]
    found: list[object] = [front]
    for name, cell in rows:
        pages = [page for _, page in _LINK.findall(name)] or [p for _, p in _LINK.findall(cell)]
        if len(pages) == 1:
            found.append(pages[0])
        else:
            found.append({name.strip(): [*pages, *_left_out(tree, pages)]})
    return found


def _left_out(tree: Path, pages: list[str]) -> list[str]:
    """The other pages of the folder under `docs/` that all of these are in."""
    (folder, *others) = {PurePosixPath(page).parent for page in pages}
    if others or folder.parts[:1] != ("docs",):
        return []
    there = sorted(str(path.relative_to(tree)) for path in (tree / folder).glob("*.md"))
    chinese = [is_chinese(PurePosixPath(page)) for page in pages]
    return [p for p in there if p not in pages and is_chinese(PurePosixPath(p)) in chinese]


def build(out: Path) -> None:
    """Makes the folder `out` anew. Raises `CalledProcessError` where zensical finds a fault."""
    with tempfile.TemporaryDirectory() as name:
        tree = _tree(Path(name) / "pages")
        english, chinese = (_built(tree, language) for language in _TABLES)
        for page in chinese.rglob("index.html"):
            path = PurePosixPath(page.relative_to(chinese).parent)
            if is_chinese(path) or str(path).endswith(".zh-CN"):
                shutil.copyfile(page, english / path / "index.html")
        shutil.copyfile(chinese / "search.json", english / "search.json")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(english, out)


def _tree(to: Path) -> Path:
    """What of the repository has a place on the site."""
    to.mkdir()
    for path in sorted({path for pattern in _TAKEN for path in ROOT.glob(pattern)}):
        if path.is_dir():
            shutil.copytree(path, to / path.name, ignore=_LEFT)
        else:
            shutil.copyfile(path, to / path.name)
    return to


def _built(tree: Path, language: str) -> Path:
    """Returns the folder of one of the two builds; it stands beside the tree."""
    options = (ROOT / "docs" / "site" / "options.toml").read_text("utf-8")
    settings = {
        "site_name": "pipimem",
        "docs_dir": tree.name,
        "site_dir": language,
        "nav": navigation(tree, language),
    }
    lines = ["[project]", *(f"{name} = {_toml(value)}" for name, value in settings.items())]
    text = "\n".join(lines) + "\n\n" + options.replace("LANGUAGE", language)
    (tree.parent / f"{language}.toml").write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", f"{language}.toml"],
        cwd=tree.parent,
        check=True,
    )
    return tree.parent / language


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(of)}" for key, of in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
