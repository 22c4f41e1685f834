"""Markdown as people write it: the corpus in `markdown/`, and what holds for any text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, parsed

from tests.cases import each

CORPUS = Path(__file__).parents[1] / "markdown"
INVISIBLE = {
    "{TAB}": "\t",
    "{CR}": "\r",
    "{BOM}": "\ufeff",
    "{FULLWIDTH}": "\u3000",
    "{FF}": "\x0c",
    "{LS}": "\u2028",
    "{END}\n": "",
}


class Case(NamedTuple):
    title: str
    markdown: str
    blocks: list[str]


def cases() -> Iterator[Case]:
    for path in sorted(CORPUS.glob("*.md")):
        if path.name != "README.md":
            yield from cases_in(path.read_text(encoding="utf-8"))


def cases_in(corpus: str) -> Iterator[Case]:
    parts = corpus.split("\n.\n")
    for title, markdown, blocks in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
        text = markdown + "\n"
        for name, character in INVISIBLE.items():
            text = text.replace(name, character)
        yield Case(title.strip(), text, blocks.splitlines())


def shown(block: MarkdownBlock) -> str:
    """A block as the corpus writes it."""
    words = [block.kind.value, f"{block.start + 1}-{block.end}"]
    if block.marker:
        words.append(f"[{block.marker}]")
    if block.kind in (BlockKind.HEADING, BlockKind.ENTRY, BlockKind.PARAGRAPH) and block.text:
        words.append(block.text.replace("\n", "⏎"))
    line = " ".join(words)
    for name, character in INVISIBLE.items():
        line = line.replace(character, name) if character else line
    return line


def blocks(document: Document) -> list[MarkdownBlock]:
    return [block for section in document.sections for block in section.blocks]


@each("case", list(cases()))
def test_the_corpus_reads_as_it_says(case: Case) -> None:
    """Every case of the corpus gives the blocks written below it."""
    assert [shown(block) for block in blocks(parsed(case.markdown))] == case.blocks


def test_the_corpus_is_whole() -> None:
    """Each case of each file was found: a missing dot would drop cases silently."""
    separators = sum(
        path.read_text(encoding="utf-8").splitlines().count(".")
        for path in CORPUS.glob("*.md")
        if path.name != "README.md"
    )
    assert len(list(cases())) * 3 == separators


def test_sections_are_a_flat_list_behind_the_preamble() -> None:
    """Each heading begins a section that goes on to the next heading, of whatever level."""
    document = parsed("before\n# One\n- a\n### Two\n\nThree\n=====\n")
    assert [(s.title, s.level, s.start, s.body, s.end) for s in document.sections] == [
        ("", 0, 0, 0, 1),
        ("One", 1, 1, 2, 3),
        ("Two", 3, 3, 4, 5),
        ("Three", 1, 5, 7, 7),
    ]


def test_the_preamble_is_there_when_it_is_empty() -> None:
    """The first section is always the preamble, also of an empty file."""
    assert [(s.level, s.blocks) for s in parsed("").sections] == [(0, ())]
    assert [(s.level, s.title) for s in parsed("# One\n").sections] == [(0, ""), (1, "One")]


def test_other_blocks_hold_their_raw_text() -> None:
    """Code, comments and the like are kept as they stand, endings included."""
    assert [(b.kind, b.text) for b in blocks(parsed("<!-- c -->\r\n***\r\n"))] == [
        (BlockKind.COMMENT, "<!-- c -->\r\n"),
        (BlockKind.RULE, "***\r\n"),
    ]


def test_a_document_knows_its_line_ending() -> None:
    """The ending most lines have is the one new lines will get."""
    assert parsed("- a\r\n- b\r\n- c\n").eol == "\r\n"
    assert parsed("- a").eol == "\n"


@each(
    "text",
    [
        ">" * 10_000,
        "#" * 10_000,
        "`" * 10_000,
        "# " * 10_000,
        "- " * 10_000 + "x",
        "a <!-- " * 10_000,
        "a <!-- x --> ` `` " * 5_000,
        "<!--\n" * 10_000,
        "a <!-- b\n" * 10_000,
        "- ```a\n" * 10_000,
        "a|b\n|" + " " * 10_000 + "x\n",
        "# a" + " " * 10_000 + "x\n",
        "<a" + " x" * 10_000,
        "---\n" * 10_000,
    ],
)
def test_hostile_text_is_just_text(text: str) -> None:
    """Long runs of signs are read in one go and rendered as they came."""
    assert "".join(parsed(text).lines) == text


# Any line of the corpus may stand next to any other.
LINES = st.sampled_from(
    sorted({line for case in cases() for line in re.split("[\r\n]", case.markdown)})
)
ENDINGS = st.sampled_from(["\n", "\n", "\r\n", "\r", ""])
MARKDOWN = st.lists(st.tuples(LINES, ENDINGS).map("".join)).map("".join)


@given(st.one_of(st.text(), MARKDOWN))
def test_any_text_renders_as_it_was(text: str) -> None:
    """Parse and render is the identity."""
    assert "".join(parsed(text).lines) == text


@given(st.one_of(st.text(), MARKDOWN))
def test_blocks_and_sections_cover_every_line_once(text: str) -> None:
    """Blocks follow each other without gap or overlap, and so do sections."""
    document = parsed(text)
    reached = 0
    for block in blocks(document):
        assert block.start == reached < block.end
        reached = block.end
    assert reached == len(document.lines)
    edges = [edge for section in document.sections for edge in (section.start, section.end)]
    assert edges == [0, *[edge for edge in edges[1:-1:2] for _ in (0, 1)], len(document.lines)]


@given(MARKDOWN)
def test_an_entry_begins_with_its_marker(text: str) -> None:
    """Marker and first line of text stand in the file as the block says, so that they can be
    replaced there.
    """
    document = parsed(text)
    for block in blocks(document):
        if block.kind is BlockKind.ENTRY:
            assert document.lines[block.start].removeprefix("\ufeff").startswith(block.marker)


@given(MARKDOWN)
def test_a_closed_comment_never_reaches_the_text_of_memory(text: str) -> None:
    """Not in headings, nor in paragraphs, whatever stands around it. (In an entry it may stand
    in code.)
    """
    for block in blocks(parsed(text.replace("`", "'"))):
        if block.kind in (BlockKind.HEADING, BlockKind.PARAGRAPH):
            assert "<!-- c -->" not in block.text
