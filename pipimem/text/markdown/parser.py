"""The Markdown of people, read line by line into sections and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby

from msgspec import Struct, field

from pipimem.text.markdown.lines import (
    BOM,
    CODE_COLUMN,
    BulletMark,
    bullet,
    closes_fence,
    cut,
    dedented,
    fence,
    front_matter,
    heading,
    indentation,
    is_quoted,
    is_rule,
    line_ending,
    opens_html,
    opens_table,
    split_lines,
    underline,
    without_ending,
)

__all__ = ["BlockKind", "Document", "MarkdownBlock", "Section", "parsed"]


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


class MarkdownBlock(Struct, frozen=True):
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


class Section(Struct, frozen=True):
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


class Document(Struct, frozen=True):
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


class OpenBlock(Struct):
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


def parsed(text: str) -> Document:
    """Any text as a document; there is no wrong Markdown. Linear in the length of the text."""
    lines = split_lines(text)
    return Document(lines, _Reader(lines).sections(), line_ending(lines))


class _Reader:
    """Goes through the lines once."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = lines
        self._document = OpenDocument(lines)
        self._in_comment = False

    def sections(self) -> tuple[Section, ...]:
        first = front_matter(self._lines)
        if first:
            self._document.add(BlockKind.FRONT, 0, first)
        for number in range(first, len(self._lines)):
            text = without_ending(self._lines[number])
            self._read_line(number, text.removeprefix(BOM) if number == 0 else text)
        self._document.close(len(self._lines))
        self._document.end_section(len(self._lines))
        return tuple(self._document.sections)

    def _read_line(self, number: int, text: str) -> None:
        if self._is_verbatim(number, text):
            return
        commented = self._block_around_comment()
        shown, begins_hidden = self._without_comments(number, text)
        if begins_hidden and commented is not None:
            commented.append(shown if shown.strip() else None)
        elif begins_hidden:
            self._read_behind_comment(number, shown)
        elif shown.strip():
            self._read_visible(number, shown)
        else:
            self._read_blank(number)
        if self._document.open is not None:
            # Only then is the line that closes the comment still a line of this block.
            self._document.open.has_open_comment = self._in_comment and (
                commented is not None or not begins_hidden
            )

    def _block_around_comment(self) -> OpenBlock | None:
        """The open block, if the comment that we are in began in the middle of one of its lines."""
        block = self._document.open
        return block if self._in_comment and block is not None and block.has_open_comment else None

    def _without_comments(self, number: int, text: str) -> tuple[str, bool]:
        """The line without its comments, and whether it begins inside or with one."""
        if not self._in_comment and ("<!--" not in text or fence(text)):
            return text, False
        markup = self._is_markup(text)
        line = cut(self._lines, number, text, inside=self._in_comment, markup=markup)
        self._in_comment = line.ends_hidden
        return line.visible, line.begins_hidden

    def _is_markup(self, text: str) -> bool:
        if self._document.open_if(BlockKind.HTML):
            return True
        entry = self._document.open_if(BlockKind.ENTRY)
        if entry is None:
            return opens_html(text) is not None
        goes_on = indentation(text) >= entry.inner
        return not goes_on and opens_html(text, in_paragraph=entry.lazy) is not None

    def _is_verbatim(self, number: int, text: str) -> bool:
        """Whether the line stands in a block of code, or in HTML that only a closing tag ends."""
        block = self._document.open
        if block is not None and block.closing_tag:
            self._read_html(block, number, text)
            return True
        if block is None or not block.fence:
            return False
        if block.kind is BlockKind.ENTRY and _begins_below(block, text):
            # The code lacks its end: it must not take in the entries below.
            self._document.close(number)
            return False
        self._read_code(block, number, text)
        return True

    def _read_html(self, block: OpenBlock, number: int, text: str) -> None:
        block.append(text)
        if block.closing_tag in text.lower():
            self._document.close(number + 1)

    def _read_code(self, block: OpenBlock, number: int, text: str) -> None:
        block.append(text, certain=bool(text.strip()))
        in_entry = block.kind is BlockKind.ENTRY
        may_close = in_entry or indentation(text) < CODE_COLUMN
        if may_close and closes_fence(text, block.fence):
            block.fence, block.lazy = "", False
            if not in_entry:
                self._document.close(number + 1)

    def _read_behind_comment(self, number: int, shown: str) -> None:
        """A line that begins in a comment, or with one; `shown` is what follows, mostly nothing."""
        entry = self._document.open_if(BlockKind.ENTRY)
        block = entry or self._document.open_if(BlockKind.HTML)
        if not shown.strip():
            if block is None:
                self._document.extend(BlockKind.COMMENT, number)
            else:
                block.append(None, certain=False)
                block.lazy = False
        elif entry and (entry.lazy or indentation(self._lines[number]) >= entry.inner):
            entry.append(" " * entry.inner + shown.strip())
        else:
            self._document.extend(BlockKind.PARAGRAPH, number, shown)

    def _read_blank(self, number: int) -> None:
        entry = self._document.open_if(BlockKind.ENTRY)
        if entry is None:
            self._document.extend(BlockKind.BLANK, number)
        else:
            entry.append("", certain=False)
            entry.lazy = False

    def _read_visible(self, number: int, text: str) -> None:
        column, found, limit = indentation(text), bullet(text), CODE_COLUMN
        entry = self._document.open_if(BlockKind.ENTRY)
        if entry is not None:
            if self._continues(entry, number, text, found):
                return
            # A bullet may stand further in than the last entry's, but not within it.
            limit = max(limit, entry.inner)
            self._document.close(number)
        if found is not None and column < limit and self._may_begin_entry(found):
            self._begin_entry(number, text, found)
        elif not self._begins_mark(number, text):
            self._extend_prose(number, text)

    def _continues(
        self, entry: OpenBlock, number: int, text: str, found: BulletMark | None
    ) -> bool:
        """Whether the line belongs to the open entry; if so it is taken."""
        if indentation(text) >= entry.inner:
            entry.append(text)
            entry.fence, entry.lazy = fence(text), found is None or bool(found.rest)
            return True
        if not entry.lazy or found is not None or self._interrupts(number, text):
            return False
        entry.append(text)
        return True

    def _interrupts(self, number: int, text: str) -> bool:
        """Whether the line begins something else than more text."""
        if indentation(text) >= CODE_COLUMN:
            return False
        return (
            is_quoted(text)
            or heading(text) is not None
            or is_rule(text)
            or fence(text) != ""
            or opens_html(text, in_paragraph=True) is not None
            or opens_table(text, self._following(number))
        )

    def _may_begin_entry(self, found: BulletMark) -> bool:
        if self._document.open_if(BlockKind.HTML):
            return False
        return found.interrupts or self._document.open_if(BlockKind.PARAGRAPH) is None

    def _begin_entry(self, number: int, text: str, found: BulletMark) -> None:
        entry = self._document.begin(BlockKind.ENTRY, number)
        entry.marker, entry.inner = found.marker, found.column + INNER
        entry.fence, entry.lazy = fence(text), bool(found.rest.strip())
        entry.append(found.rest)

    def _begins_mark(self, number: int, text: str) -> bool:
        """Whether the line is one of HTML or a table, or begins a heading, rule, code or those."""
        table = self._document.open_if(BlockKind.TABLE) if "|" in text else None
        block = self._document.open_if(BlockKind.HTML) or table
        if block is not None:
            block.append(text)
            return True
        if indentation(text) >= CODE_COLUMN:
            return False
        return (
            self._is_underline(number, text)
            or self._is_heading(number, text)
            or self._begins_block(number, text)
        )

    def _is_underline(self, number: int, text: str) -> bool:
        """Whether the line makes the paragraph above it a heading."""
        prose, level = self._document.open_if(BlockKind.PARAGRAPH), underline(text)
        if prose is None or prose.quoted or not level:
            return False
        title = " ".join(map(str.strip, filter(None, prose.shown)))
        self._document.open = None
        self._document.begin_section(
            MarkdownBlock(BlockKind.HEADING, prose.start, number + 1, title, level)
        )
        return True

    def _is_heading(self, number: int, text: str) -> bool:
        found = heading(text)
        if found is None:
            return False
        level, marker, title = found
        self._document.close(number)
        self._document.begin_section(
            MarkdownBlock(BlockKind.HEADING, number, number + 1, title, level, marker)
        )
        return True

    def _begins_block(self, number: int, text: str) -> bool:
        prose = self._document.open_if(BlockKind.PARAGRAPH)
        closing_tag = opens_html(text, in_paragraph=prose is not None)
        if is_rule(text):
            self._document.begin(BlockKind.RULE, number).append(text)
            self._document.close(number + 1)
        elif fence(text) and bullet(text) is None:  # "2) ```" goes on with the prose above it
            self._document.begin(BlockKind.CODE, number).fence = fence(text)
        elif closing_tag is not None:
            self._begin_html(number, text, closing_tag)
        elif opens_table(text, self._following(number)):
            self._document.begin(BlockKind.TABLE, number)
        else:
            return False
        return True

    def _begin_html(self, number: int, text: str, closing_tag: str) -> None:
        html = self._document.begin(BlockKind.HTML, number)
        if closing_tag:
            self._in_comment = False  # in <script> and <pre> a "<!--" is text
            html.closing_tag = closing_tag
            if closing_tag in text.lower():
                self._document.close(number + 1)

    def _extend_prose(self, number: int, text: str) -> None:
        prose, quoted = self._document.open_if(BlockKind.PARAGRAPH), is_quoted(text)
        if prose is None and indentation(text) >= CODE_COLUMN:
            self._document.extend(BlockKind.CODE, number)
            return
        if prose is not None and quoted and not prose.quoted:
            self._document.close(number)
        paragraph = self._document.extend(BlockKind.PARAGRAPH, number, text)
        paragraph.quoted = paragraph.quoted or quoted

    def _following(self, number: int) -> str:
        return self._lines[number + 1] if number + 1 < len(self._lines) else ""


def _begins_below(entry: OpenBlock, text: str) -> bool:
    """Whether the line is a bullet or a heading further out than the text of the entry."""
    if not text.strip() or indentation(text) >= entry.inner:
        return False
    return bullet(text) is not None or heading(text) is not None
