"""The Markdown of people, read line by line into sections and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from pipimem.text.markdown.blocks import (
    INNER,
    BlockKind,
    Document,
    MarkdownBlock,
    OpenBlock,
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

_YAML_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#\[{:-][^:]*):(\s|$)""")


def parsed(text: str) -> Document:
    """Any text as a document; there is no wrong Markdown. Linear in the length of the text."""
    lines = split_lines(text)
    return Document(lines, _Reader(lines).sections(), line_ending(lines))


class _Reader:
    """Goes through the lines once, with at most one block open."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = lines
        self._sections: list[Section] = []
        self._heading: MarkdownBlock | None = None
        self._blocks: list[MarkdownBlock] = []
        self._open: OpenBlock | None = None
        self._in_comment = False

    def sections(self) -> tuple[Section, ...]:
        first = _front_matter(self._lines)
        if first:
            self._blocks.append(self._raw(BlockKind.FRONT, 0, first))
        for number in range(first, len(self._lines)):
            text = without_ending(self._lines[number])
            self._read_line(number, text.removeprefix(BOM) if number == 0 else text)
        self._close(len(self._lines))
        self._end_section(len(self._lines))
        return tuple(self._sections)

    # ── one line ──

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
        if self._open is not None:
            # Only then is the line that closes the comment still a line of this block.
            self._open.has_open_comment = self._in_comment and (
                commented is not None or not begins_hidden
            )

    def _block_around_comment(self) -> OpenBlock | None:
        """The open block, if the comment that we are in began in the middle of one of its lines."""
        block = self._open
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
        if self._open_if(BlockKind.HTML):
            return True
        entry = self._open_if(BlockKind.ENTRY)
        if entry is None:
            return opens_html(text) is not None
        goes_on = indentation(text) >= entry.inner
        return not goes_on and opens_html(text, in_paragraph=entry.lazy) is not None

    def _is_verbatim(self, number: int, text: str) -> bool:
        """Whether the line stands in a block of code, or in HTML that only a closing tag ends."""
        block = self._open
        if block is not None and block.closing_tag:
            self._read_html(block, number, text)
            return True
        if block is None or not block.fence:
            return False
        if block.kind is BlockKind.ENTRY and _begins_below(block, text):
            self._close(number)  # the code lacks its end: it must not swallow the entries below
            return False
        self._read_code(block, number, text)
        return True

    def _read_html(self, block: OpenBlock, number: int, text: str) -> None:
        block.append(text)
        if block.closing_tag in text.lower():
            self._close(number + 1)

    def _read_code(self, block: OpenBlock, number: int, text: str) -> None:
        block.append(text, certain=bool(text.strip()))
        in_entry = block.kind is BlockKind.ENTRY
        may_close = in_entry or indentation(text) < CODE_COLUMN
        if may_close and closes_fence(text, block.fence):
            block.fence, block.lazy = "", False
            if not in_entry:
                self._close(number + 1)

    def _read_behind_comment(self, number: int, shown: str) -> None:
        """A line that begins in a comment, or with one; `shown` is what follows, mostly nothing."""
        entry = self._open_if(BlockKind.ENTRY)
        block = entry or self._open_if(BlockKind.HTML)
        if not shown.strip():
            if block is None:
                self._extend(BlockKind.COMMENT, number)
            else:
                block.append(None, certain=False)
                block.lazy = False
        elif entry and (entry.lazy or indentation(self._lines[number]) >= entry.inner):
            entry.append(" " * entry.inner + shown.strip())
        else:
            self._extend(BlockKind.PARAGRAPH, number, shown)

    def _read_blank(self, number: int) -> None:
        entry = self._open_if(BlockKind.ENTRY)
        if entry is None:
            self._extend(BlockKind.BLANK, number)
        else:
            entry.append("", certain=False)
            entry.lazy = False

    def _read_visible(self, number: int, text: str) -> None:
        column, found, limit = indentation(text), bullet(text), CODE_COLUMN
        entry = self._open_if(BlockKind.ENTRY)
        if entry is not None:
            if self._continues(entry, number, text, found):
                return
            # A bullet may stand further in than the last entry's, but not within it.
            limit = max(limit, entry.inner)
            self._close(number)
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
        if self._open_if(BlockKind.HTML):
            return False
        return found.interrupts or self._open_if(BlockKind.PARAGRAPH) is None

    def _begin_entry(self, number: int, text: str, found: BulletMark) -> None:
        entry = self._begin(BlockKind.ENTRY, number)
        entry.marker, entry.inner = found.marker, found.column + INNER
        entry.fence, entry.lazy = fence(text), bool(found.rest.strip())
        entry.append(found.rest)

    def _begins_mark(self, number: int, text: str) -> bool:
        """Whether the line is one of HTML or a table, or begins a heading, rule, code or those."""
        table = self._open_if(BlockKind.TABLE) if "|" in text else None
        block = self._open_if(BlockKind.HTML) or table
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
        prose, level = self._open_if(BlockKind.PARAGRAPH), underline(text)
        if prose is None or prose.quoted or not level:
            return False
        title = " ".join(map(str.strip, filter(None, prose.shown)))
        self._open = None
        self._begin_section(MarkdownBlock(BlockKind.HEADING, prose.start, number + 1, title, level))
        return True

    def _is_heading(self, number: int, text: str) -> bool:
        found = heading(text)
        if found is None:
            return False
        level, marker, title = found
        self._close(number)
        self._begin_section(
            MarkdownBlock(BlockKind.HEADING, number, number + 1, title, level, marker)
        )
        return True

    def _begins_block(self, number: int, text: str) -> bool:
        prose = self._open_if(BlockKind.PARAGRAPH)
        closing_tag = opens_html(text, in_paragraph=prose is not None)
        if is_rule(text):
            self._begin(BlockKind.RULE, number).append(text)
            self._close(number + 1)
        elif fence(text) and bullet(text) is None:  # "2) ```" goes on with the prose above it
            self._begin(BlockKind.CODE, number).fence = fence(text)
        elif closing_tag is not None:
            self._begin_html(number, text, closing_tag)
        elif opens_table(text, self._following(number)):
            self._begin(BlockKind.TABLE, number)
        else:
            return False
        return True

    def _begin_html(self, number: int, text: str, closing_tag: str) -> None:
        html = self._begin(BlockKind.HTML, number)
        if closing_tag:
            self._in_comment = False  # in <script> and <pre> a "<!--" is text
            html.closing_tag = closing_tag
            if closing_tag in text.lower():
                self._close(number + 1)

    def _extend_prose(self, number: int, text: str) -> None:
        prose, quoted = self._open_if(BlockKind.PARAGRAPH), is_quoted(text)
        if prose is None and indentation(text) >= CODE_COLUMN:
            self._extend(BlockKind.CODE, number)
            return
        if prose is not None and quoted and not prose.quoted:
            self._close(number)
        paragraph = self._extend(BlockKind.PARAGRAPH, number, text)
        paragraph.quoted = paragraph.quoted or quoted

    def _following(self, number: int) -> str:
        return self._lines[number + 1] if number + 1 < len(self._lines) else ""

    # ── blocks and sections ──

    def _open_if(self, kind: BlockKind) -> OpenBlock | None:
        """The open block, if it is of that kind."""
        block = self._open
        return block if block is not None and block.kind is kind else None

    def _begin(self, kind: BlockKind, number: int) -> OpenBlock:
        self._close(number)
        self._open = OpenBlock(kind, number)
        return self._open

    def _extend(self, kind: BlockKind, number: int, shown: str | None = None) -> OpenBlock:
        block = self._open_if(kind) or self._begin(kind, number)
        block.append(shown)
        return block

    def _close(self, end: int) -> None:
        """The open block, if any, ends before line `end`."""
        block, self._open = self._open, None
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
            self._blocks.append(self._raw(block.kind, block.start, end))

    def _gaps(self, start: int, shown: list[str | None]) -> Iterator[MarkdownBlock]:
        """The blank and the comment lines that turned out to stand behind an entry, not in it."""
        end = start
        for is_comment, lines in groupby(shown, key=lambda line: line is None):
            begun, end = end, end + len(list(lines))
            kind = BlockKind.COMMENT if is_comment else BlockKind.BLANK
            yield self._raw(kind, begun, end)

    def _raw(self, kind: BlockKind, start: int, end: int) -> MarkdownBlock:
        return MarkdownBlock(kind, start, end, "".join(self._lines[start:end]))

    def _begin_section(self, block: MarkdownBlock) -> None:
        self._end_section(block.start)
        self._heading, self._blocks = block, [block]

    def _end_section(self, end: int) -> None:
        top, blocks = self._heading, tuple(self._blocks)
        if top is None:
            self._sections.append(Section("", 0, 0, 0, end, blocks))
        else:
            self._sections.append(Section(top.text, top.level, top.start, top.end, end, blocks))


def _begins_below(entry: OpenBlock, text: str) -> bool:
    """Whether the line is a bullet or a heading further out than the text of the entry."""
    if not text.strip() or indentation(text) >= entry.inner:
        return False
    return bullet(text) is not None or heading(text) is not None


def _front_matter(lines: tuple[str, ...]) -> int:
    """How many lines of YAML stand at the very top, fences included.

    Two rules around some text look the same; it is front matter only if its first line is a key.
    """
    if not lines or lines[0].removeprefix(BOM).rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return number if _begins_with_key(lines[1 : number - 1]) else 0
    return 0


def _begins_with_key(lines: tuple[str, ...]) -> bool:
    """Whether the first line that is no comment is a key of YAML; also where there is none."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            return _YAML_KEY.match(line) is not None
    return True
