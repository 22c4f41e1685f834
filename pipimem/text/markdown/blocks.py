"""What a Markdown file is made of: sections of blocks, each with the lines it stands on.

Also the document that the parser is filling, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from pipimem.text.markdown.lines import dedented, indentation


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    ENTRY = "entry"
    PARAGRAPH = "paragraph"
    BLANK = "blank"
    COMMENT = "comment"
    CODE = "code"
    FRONT = "front"
    RULE = "rule"
    TABLE = "table"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """The lines `[start, end)` of a document, and what they say.

    `text` of a heading is its title; of an entry its lines without marker, dedented, joined with
    "\\n"; of a paragraph its lines joined with "\\n". Comments are left out of all three. `text` of
    another block is raw.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    level: int = 0
    """1 to 6 for a heading, else 0."""
    marker: str = ""
    """Of an entry or a `# heading`: what stands before the text, with indentation and space."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all blocks up to the next heading of any level.

    The heading is the first of `blocks`. What stands before the first heading is the preamble:
    level 0, no title.
    """

    title: str
    level: int
    start: int
    body: int
    end: int
    blocks: tuple[MarkdownBlock, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text; joined, `lines` are the text again.

    Blocks cover each line once, in order. `sections[0]` is the preamble, perhaps empty.
    """

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    eol: str


# A line that stands this far to the right of an entry's marker belongs to the entry. CommonMark
# asks for the width of the marker: "1. a" above " - b" are two lists there, but people who write it
# mean a sub-bullet.
INNER = 2


@dataclass(slots=True)
class OpenBlock:
    """The block that is still growing."""

    kind: BlockKind
    start: int
    shown: list[str | None] = field(default_factory=list)
    """Its lines without comments; None for a line that is nothing but comment."""
    certain_lines: int = 0
    """How many of its lines are surely its own: blank lines at its end are not."""
    marker: str = ""
    inner: int = 0
    """The column from which on lines belong to the entry."""
    lazy: bool = False
    """Whether a line at the margin may go on with the entry's sentence."""
    fence: str = ""
    """The fence of the code we are in."""
    closing_tag: str = ""
    """The closing tag that ends a block of HTML; "" for a blank line."""
    quoted: bool = False
    has_open_comment: bool = False
    """A comment began in the middle of one of its lines."""

    def append(self, shown: str | None, *, certain: bool = True) -> None:
        """Take one more line; not certain if it may turn out to stand behind the block."""
        self.shown.append(shown)
        if certain:
            self.certain_lines = len(self.shown)

    def entry_text(self) -> str:
        """What an entry says.

        No marker, no comments, moved to the left as far as its lines allow.
        """
        shown = self.shown[: self.certain_lines]
        if len(shown) == 1:
            return (shown[0] or "").strip()
        first, *more = [line.rstrip() for line in shown if line is not None]
        margin = self._margin(more)
        return "\n".join([first.strip(), *(dedented(line, margin) for line in more)]).strip()

    def _margin(self, lines: list[str]) -> int:
        """How far lines of the entry may move to the left: up to the one furthest out."""
        columns = [indentation(line) for line in lines if line]
        return min((column for column in columns if column >= self.inner), default=0)


class OpenDocument:
    """The sections and blocks that were read so far; at most one block is open."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.open: OpenBlock | None = None
        self.sections: list[Section] = []
        self._lines = lines
        self._heading: MarkdownBlock | None = None
        self._blocks: list[MarkdownBlock] = []

    def open_if(self, kind: BlockKind) -> OpenBlock | None:
        """The open block, if it is of that kind."""
        block = self.open
        return block if block is not None and block.kind is kind else None

    def begin(self, kind: BlockKind, number: int) -> OpenBlock:
        """Opens a block at a line, which ends the one before."""
        self.close(number)
        self.open = OpenBlock(kind, number)
        return self.open

    def extend(self, kind: BlockKind, number: int, shown: str | None = None) -> OpenBlock:
        """Adds a line to the open block of that kind, or opens one."""
        block = self.open_if(kind) or self.begin(kind, number)
        block.append(shown)
        return block

    def close(self, end: int) -> None:
        """The open block, if any, ends before line `end`."""
        block, self.open = self.open, None
        if block is None:
            return
        if block.kind is BlockKind.ENTRY:
            own, text = block.start + block.certain_lines, block.entry_text()
            self._blocks.append(
                MarkdownBlock(block.kind, block.start, own, text, marker=block.marker)
            )
            self._blocks.extend(self._gaps(own, block.shown[block.certain_lines :]))
        elif block.kind is BlockKind.PARAGRAPH:
            text = "\n".join(line.strip() for line in block.shown if line is not None)
            self._blocks.append(MarkdownBlock(block.kind, block.start, end, text))
        else:
            self.add(block.kind, block.start, end)

    def _gaps(self, start: int, shown: list[str | None]) -> Iterator[MarkdownBlock]:
        """The blank and the comment lines that turned out to stand behind an entry, not in it."""
        end = start
        for is_comment, lines in groupby(shown, key=lambda line: line is None):
            begun, end = end, end + len(list(lines))
            kind = BlockKind.COMMENT if is_comment else BlockKind.BLANK
            yield self._raw(kind, begun, end)

    def add(self, kind: BlockKind, start: int, end: int) -> None:
        """Adds lines as a block of raw text."""
        self._blocks.append(self._raw(kind, start, end))

    def _raw(self, kind: BlockKind, start: int, end: int) -> MarkdownBlock:
        return MarkdownBlock(kind, start, end, "".join(self._lines[start:end]))

    def begin_section(self, block: MarkdownBlock) -> None:
        """Begins a section with its heading."""
        self.end_section(block.start)
        self._heading, self._blocks = block, [block]

    def end_section(self, end: int) -> None:
        """The section that was begun last, or the preamble, ends before line `end`."""
        top, blocks = self._heading, tuple(self._blocks)
        if top is None:
            self.sections.append(Section("", 0, 0, 0, end, blocks))
        else:
            self.sections.append(Section(top.text, top.level, top.start, top.end, end, blocks))
