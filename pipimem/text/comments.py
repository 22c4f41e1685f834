"""HTML comments cut out of lines of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TICKS = re.compile(r"`+")
_OPEN, _CLOSE = "<!--", "-->"


class Cut(NamedTuple):
    """A line without its comments."""

    shown: str
    led: bool
    """The line began inside a comment, or with one."""
    inside: bool
    """The line ended inside a comment."""


def cut(lines: Sequence[str], number: int, text: str, *, inside: bool, markup: bool) -> Cut:
    """`text`, which is line `number` of `lines` (perhaps without ending), without its comments.

    A comment that begins its line goes on to its "-->", or to the end of the file. One that begins later in
    the line must be closed before a blank line and before the next "<!--"; else "<!--" is just what somebody
    wrote, and must not hide the rest of the file. In a `code span` it is text as well. In `markup` (a block
    of HTML) a comment always goes on to its "-->", as a browser sees it.
    """
    shown: list[str] = []
    visible, led, position = False, inside, 0
    # Looked up once: a line of 10,000 "<!--" must not be searched to its end 10,000 times.
    last_close = text.rfind(_CLOSE)
    if inside:
        if last_close < 0:
            return Cut("", led=True, inside=True)
        position = text.find(_CLOSE) + len(_CLOSE)
    for opened in _openings(text):
        if opened < position:
            continue
        visible = visible or bool(text[position:opened].strip())
        led = led or not visible
        if opened + 2 <= last_close:  # "<!-->" is a whole comment in HTML
            shown.append(text[position:opened])
            position = text.find(_CLOSE, opened + 2) + len(_CLOSE)
        elif not visible or markup or _closed_below(lines, number, text, opened):
            return Cut(_joined([*shown, text[position:opened]]).rstrip(), led, inside=True)
    return Cut(_joined([*shown, text[position:]]), led, inside=False)


def _openings(text: str) -> Iterator[int]:
    """Where comments may begin in a line: each "<!--" that does not stand in a `code span`."""
    shown: list[str] = []
    done = 0
    for start, end in _code_spans(text):
        shown += (text[done:start], "`" * (end - start))
        done = end
    blanked = "".join(shown) + text[done:]
    opened = blanked.find(_OPEN)
    while opened >= 0:
        yield opened
        opened = blanked.find(_OPEN, opened + 1)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """The code spans of a line: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    done = 0
    for index, (start, end) in enumerate(runs):
        if start < done:
            continue
        for opened, closed in (runs[later] for later in range(index + 1, len(runs))):
            # Of each length one run at most finds no other: even a long line is gone through few times.
            if closed - opened == end - start:
                yield start, closed
                done = closed
                break


def _closed_below(lines: Sequence[str], number: int, text: str, opened: int) -> bool:
    """Whether the comment is closed in a line below, before a blank line and before the next "<!--"."""
    if text.find(_OPEN, opened + 1) >= 0:
        return False
    for below in range(number + 1, len(lines)):
        line = lines[below]
        start, end = line.find(_OPEN), line.find(_CLOSE)
        if end >= 0 and (start < 0 or end < start):
            return True
        if start >= 0 or not line.strip():
            return False
    return False


def _joined(pieces: list[str]) -> str:
    """What stood around the comments of a line, with one space where cutting left two."""
    kept = [""]
    for piece in filter(None, pieces):
        spaced = kept[-1].endswith((" ", "\t")) and piece.startswith((" ", "\t"))
        kept.append(piece.lstrip(" \t") if spaced else piece)
    return "".join(kept)
