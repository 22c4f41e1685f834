"""The Markdown of people, read line by line into sections and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.text.blocks import Block, Document, Kind, Section
from pipimem.text.comments import cut
from pipimem.text.growing import INNER, Growing
from pipimem.text.lines import BOM, line_ending, split_lines, without_ending
from pipimem.text.marks import (
    CODE_COLUMN,
    Bullet,
    bullet,
    closes_fence,
    fence,
    heading,
    indentation,
    is_rule,
    opens_html,
    opens_table,
    underline,
)

__all__ = ["Block", "Document", "Kind", "Section", "parsed"]

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
        self._heading: Block | None = None
        self._blocks: list[Block] = []
        self._open: Growing | None = None
        self._inside = False  # a comment

    def sections(self) -> tuple[Section, ...]:
        first = _front_matter(self._lines)
        if first:
            self._blocks.append(self._raw(Kind.FRONT, 0, first))
        for number in range(first, len(self._lines)):
            text = without_ending(self._lines[number])
            self._take(number, text.removeprefix(BOM) if number == 0 else text)
        self._close(len(self._lines))
        self._end_section(len(self._lines))
        return tuple(self._sections)

    # ── one line ──

    def _take(self, number: int, text: str) -> None:
        if self._verbatim(number, text):
            return
        led, tail = False, self._inside and self._open is not None and self._open.spanning
        if self._inside or ("<!--" in text and not fence(text)):
            cut_line = cut(
                self._lines, number, text, inside=self._inside, markup=self._is_markup(text)
            )
            text, led, self._inside = cut_line
        if led:
            self._take_behind_comment(number, text, tail=tail)
        elif not text.strip():
            self._take_blank(number)
        else:
            self._take_shown(number, text)
        if self._open is not None:
            # Only then is the line that closes the comment still a line of this block.
            self._open.spanning = self._inside and (tail or not led)

    def _is_markup(self, text: str) -> bool:
        block = self._open
        if block is not None and block.kind is Kind.HTML:
            return True
        if block is not None and block.kind is Kind.ENTRY:
            goes_on = indentation(text) >= block.inner
            return not goes_on and opens_html(text, in_paragraph=block.lazy) is not None
        return opens_html(text) is not None

    def _verbatim(self, number: int, text: str) -> bool:
        """Whether the line stands in a block of code, or in HTML that only a closing tag ends."""
        block = self._open
        if block is None or not (block.fence or block.until):
            return False
        if block.until:
            block.hold(text)
            if block.until in text.lower():
                self._close(number + 1)
            return True
        entry, column = block.kind is Kind.ENTRY, indentation(text)
        if entry and text.strip() and column < block.inner and (bullet(text) or heading(text)):
            self._close(number)  # the code lacks its end: it must not swallow the entries below
            return False
        block.hold(text, firmly=bool(text.strip()))
        if (entry or column < CODE_COLUMN) and closes_fence(text, block.fence):
            block.fence, block.lazy = "", False
            if not entry:
                self._close(number + 1)
        return True

    def _take_behind_comment(self, number: int, shown: str, *, tail: bool) -> None:
        """A line that begins in a comment, or with one; `shown` is what follows, mostly nothing."""
        block = self._open
        if tail and block is not None:
            block.hold(shown if shown.strip() else None)
        elif not shown.strip():
            if block is not None and block.kind in (Kind.ENTRY, Kind.HTML):
                block.hold(None, firmly=False)
                block.lazy = False
            else:
                self._extend(Kind.COMMENT, number)
        elif block is not None and block.kind is Kind.ENTRY:
            if block.lazy or indentation(self._lines[number]) >= block.inner:
                block.hold(" " * block.inner + shown.strip())
            else:
                self._extend(Kind.PARAGRAPH, number, shown)
        else:
            self._extend(Kind.PARAGRAPH, number, shown)

    def _take_blank(self, number: int) -> None:
        block = self._open
        if block is not None and block.kind is Kind.ENTRY:
            block.hold("", firmly=False)
            block.lazy = False
        else:
            self._extend(Kind.BLANK, number)

    def _take_shown(self, number: int, text: str) -> None:
        column, found, block, limit = indentation(text), bullet(text), self._open, CODE_COLUMN
        if block is not None and block.kind is Kind.ENTRY:
            if self._continues(block, number, text, column, found):
                return
            limit = max(
                limit, block.inner
            )  # a bullet further in than the last entry's, but not within it
            self._close(number)
        if found is not None and column < limit and self._may_begin_entry(found):
            self._begin_entry(number, text, found)
        elif not self._begins_mark(number, text, column):
            self._extend_prose(number, text, column)

    def _continues(
        self, entry: Growing, number: int, text: str, column: int, found: Bullet | None
    ) -> bool:
        """Whether the line belongs to the open entry; if so it is taken."""
        if column >= entry.inner:
            entry.hold(text)
            entry.fence, entry.lazy = fence(text), found is None or bool(found.rest)
            return True
        if not entry.lazy or found is not None or self._interrupts(number, text, column):
            return False
        entry.hold(text)
        return True

    def _interrupts(self, number: int, text: str, column: int) -> bool:
        """Whether the line begins something else than more text."""
        return column < CODE_COLUMN and (
            text.lstrip(" \t").startswith(">")
            or heading(text) is not None
            or is_rule(text)
            or fence(text) != ""
            or opens_html(text, in_paragraph=True) is not None
            or opens_table(text, self._following(number))
        )

    def _may_begin_entry(self, found: Bullet) -> bool:
        match self._open:
            case Growing(kind=Kind.PARAGRAPH):
                return found.interrupts
            case Growing(kind=Kind.HTML):
                return False
            case _:
                return True

    def _begin_entry(self, number: int, text: str, found: Bullet) -> None:
        entry = self._begin(Kind.ENTRY, number)
        entry.marker, entry.inner = found.marker, found.column + INNER
        entry.fence, entry.lazy = fence(text), bool(found.rest.strip())
        entry.hold(found.rest)

    def _begins_mark(self, number: int, text: str, column: int) -> bool:
        """Whether the line goes on with a table or HTML, or begins a heading, rule, code, table or HTML."""
        block = self._open
        if block is not None and (
            block.kind is Kind.HTML or (block.kind is Kind.TABLE and "|" in text)
        ):
            block.hold(text)
            return True
        if column >= CODE_COLUMN:
            return False
        prose = block if block is not None and block.kind is Kind.PARAGRAPH else None
        if prose is not None and not prose.quoted and (level := underline(text)):
            title = " ".join(line.strip() for line in prose.shown if line)
            self._open = None
            self._begin_section(Block(Kind.HEADING, prose.start, number + 1, title, level))
        elif found := heading(text):
            self._close(number)
            self._begin_section(
                Block(Kind.HEADING, number, number + 1, found[2], found[0], found[1])
            )
        elif is_rule(text):
            self._begin(Kind.RULE, number).hold(text)
            self._close(number + 1)
        elif bullet(text) is None and (
            opened := fence(text)
        ):  # "2) ```" goes on with the prose above it
            self._begin(Kind.CODE, number).fence = opened
        elif (until := opens_html(text, in_paragraph=prose is not None)) is not None:
            self._begins_html(number, text, until)
        elif opens_table(text, self._following(number)):
            self._begin(Kind.TABLE, number)
        else:
            return False
        return True

    def _begins_html(self, number: int, text: str, until: str) -> None:
        html = self._begin(Kind.HTML, number)
        if until:
            self._inside = False  # in <script> and <pre> a "<!--" is text
            html.until = until
            if until in text.lower():
                self._close(number + 1)

    def _extend_prose(self, number: int, text: str, column: int) -> None:
        block = self._open
        flowing = block is not None and block.kind is Kind.PARAGRAPH
        if column >= CODE_COLUMN and not flowing:
            self._extend(Kind.CODE, number)
            return
        quoted = text.lstrip(" \t").startswith(">")
        if flowing and block is not None and quoted and not block.quoted:
            self._close(number)
        paragraph = self._extend(Kind.PARAGRAPH, number, text)
        paragraph.quoted = paragraph.quoted or quoted

    def _following(self, number: int) -> str:
        return self._lines[number + 1] if number + 1 < len(self._lines) else ""

    # ── blocks and sections ──

    def _begin(self, kind: Kind, number: int) -> Growing:
        self._close(number)
        self._open = Growing(kind, number)
        return self._open

    def _extend(self, kind: Kind, number: int, shown: str | None = None) -> Growing:
        block = self._open
        if block is None or block.kind is not kind:
            block = self._begin(kind, number)
        block.hold(shown)
        return block

    def _close(self, end: int) -> None:
        """The open block, if any, ends before line `end`."""
        block, self._open = self._open, None
        if block is None:
            return
        match block.kind:
            case Kind.ENTRY:
                own = block.start + block.held
                self._blocks.append(
                    Block(Kind.ENTRY, block.start, own, block.entry_text(), 0, block.marker)
                )
                self._blocks.extend(self._gaps(own, block.shown[block.held :]))
            case Kind.PARAGRAPH:
                text = "\n".join(line.strip() for line in block.shown if line is not None)
                self._blocks.append(Block(Kind.PARAGRAPH, block.start, end, text))
            case kind:
                self._blocks.append(self._raw(kind, block.start, end))

    def _gaps(self, start: int, shown: list[str | None]) -> Iterator[Block]:
        """The blank and the comment lines that turned out to stand behind an entry, not in it."""
        begun = 0
        for index in range(1, len(shown) + 1):
            if index == len(shown) or (shown[index] is None) != (shown[begun] is None):
                kind = Kind.COMMENT if shown[begun] is None else Kind.BLANK
                yield self._raw(kind, start + begun, start + index)
                begun = index

    def _raw(self, kind: Kind, start: int, end: int) -> Block:
        return Block(kind, start, end, "".join(self._lines[start:end]))

    def _begin_section(self, block: Block) -> None:
        self._end_section(block.start)
        self._heading, self._blocks = block, [block]

    def _end_section(self, end: int) -> None:
        top, blocks = self._heading, tuple(self._blocks)
        if top is None:
            self._sections.append(Section("", 0, 0, 0, end, blocks))
        else:
            self._sections.append(Section(top.text, top.level, top.start, top.end, end, blocks))


def _front_matter(lines: tuple[str, ...]) -> int:
    """How many lines of YAML stand at the very top, fences included.

    Two rules around some text look the same; it is front matter only if its first line is a key.
    """
    if not lines or lines[0].removeprefix(BOM).rstrip() != "---":
        return 0
    keyed = False
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return number
        if not keyed and line.strip() and not line.startswith("#"):
            if _YAML_KEY.match(line) is None:
                return 0
            keyed = True
    return 0
