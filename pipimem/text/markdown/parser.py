"""The Markdown of people, read line by line into sections and blocks."""

from __future__ import annotations

from pipimem.text.markdown.blocks import (
    INNER,
    BlockKind,
    Document,
    MarkdownBlock,
    OpenBlock,
    OpenDocument,
    Section,
)
from pipimem.text.markdown.comments import cut
from pipimem.text.markdown.lines import (
    BOM,
    CODE_COLUMN,
    BulletMark,
    bullet,
    closes_fence,
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
