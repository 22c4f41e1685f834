"""What a Markdown file is made of: sections of blocks, each with the lines it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
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
class Block:
    """The lines `[start, end)` of a document, and what they say.

    `text` of a heading is its title; of an entry its lines without marker, dedented, joined with "\\n"; of a
    paragraph its lines joined with "\\n". Comments are left out of all three. `text` of another block is raw.
    """

    kind: Kind
    start: int
    end: int
    text: str
    level: int = 0
    """1 to 6 for a heading, else 0."""
    marker: str = ""
    """Of an entry or a `# heading`: what stands before the text, with indentation and space."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all blocks up to the next heading of any level; the heading is the first of `blocks`.

    What stands before the first heading is the preamble: level 0, no title.
    """

    title: str
    level: int
    start: int
    body: int
    end: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text; joined, `lines` are the text again.

    Blocks cover each line once, in order. `sections[0]` is the preamble, perhaps empty.
    """

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    eol: str
