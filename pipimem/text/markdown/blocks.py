"""What a Markdown file is made of: sections of blocks, each with the lines it stands on.

Also the block that the parser is filling, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

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
