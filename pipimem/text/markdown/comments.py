"""HTML comments cut out of lines of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipimem.text.patterns import replaced

_TICKS = re.compile(r"`+")
_OPEN, _CLOSE = "<!--", "-->"


class VisibleText(NamedTuple):
    """A line without its comments."""

    visible: str
    begins_hidden: bool
    """The line began inside a comment, or with one."""
    ends_hidden: bool
    """The line ended inside a comment."""


def cut(lines: Sequence[str], number: int, text: str, *, inside: bool, markup: bool) -> VisibleText:
    """`text`, which is line `number` of `lines` (perhaps without ending), without its comments.

    A comment that begins its line goes on to its "-->", or to the end of the file. One that begins
    later in the line must be closed before a blank line and before the next "<!--"; else "<!--" is
    just what somebody wrote, and must not hide the rest of the file. In a `code span` it is text as
    well. In `markup` (a block of HTML) a comment always goes on to its "-->", as a browser sees it.
    """
    pieces: list[str] = []
    visible, begins_hidden, position = False, inside, 0
    # Looked up once: a line of 10,000 "<!--" must not be searched to its end 10,000 times.
    last_close = text.rfind(_CLOSE)
    if inside:
        if last_close < 0:
            return VisibleText("", begins_hidden=True, ends_hidden=True)
        position = text.find(_CLOSE) + len(_CLOSE)
    for opened in _openings(text):
        if opened < position:
            continue
        visible |= bool(text[position:opened].strip())
        begins_hidden |= not visible
        if opened + 2 <= last_close:  # "<!-->" is a whole comment in HTML
            pieces.append(text[position:opened])
            position = text.find(_CLOSE, opened + 2) + len(_CLOSE)
        elif markup or not visible or _closed_below(lines, number, text, opened):
            return VisibleText(
                _joined([*pieces, text[position:opened]]).rstrip(), begins_hidden, ends_hidden=True
            )
    return VisibleText(_joined([*pieces, text[position:]]), begins_hidden, ends_hidden=False)


def _openings(text: str) -> Iterator[int]:
    """Where comments may begin in a line: each "<!--" that does not stand in a `code span`."""
    code = ((start, end, "`" * (end - start)) for start, end in _code_spans(text))
    blanked = replaced(text, code)
    opened = blanked.find(_OPEN)
    while opened >= 0:
        yield opened
        opened = blanked.find(_OPEN, opened + 1)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """The code spans of a line: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    reached = 0
    for index, (start, _) in enumerate(runs):
        closed = _closing_ticks(runs, index) if start >= reached else 0
        if closed:
            yield start, closed
            reached = closed


def _closing_ticks(runs: Sequence[tuple[int, int]], index: int) -> int:
    """Where the next run as long as that one ends; 0 if there is none.

    Of each length one run at most finds no other: even a long line is gone through few times.
    """
    start, end = runs[index]
    for place in range(index + 1, len(runs)):
        opened, closed = runs[place]
        if closed - opened == end - start:
            return closed
    return 0


def _closed_below(lines: Sequence[str], number: int, text: str, opened: int) -> bool:
    """Whether the comment is closed in a line below, before a blank line and the next "<!--"."""
    if text.find(_OPEN, opened + 1) >= 0:
        return False
    for below in range(number + 1, len(lines)):
        line = lines[below]
        before_close, close, _ = line.partition(_CLOSE)
        if close and _OPEN not in before_close:
            return True
        if _OPEN in line or not line.strip():
            return False
    return False


def _joined(pieces: list[str]) -> str:
    """What stood around the comments of a line, with one space where cutting left two."""
    kept = [""]
    for piece in filter(None, pieces):
        spaced = kept[-1].endswith((" ", "\t")) and piece.startswith((" ", "\t"))
        kept.append(piece.lstrip(" \t") if spaced else piece)
    return "".join(kept)
