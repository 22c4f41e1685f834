"""Text as lines that keep their endings, so that joining them gives the text back.

Or folded to one line.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

BOM = "\ufeff"
"""The byte order mark some Windows editors put at the beginning of a file; it is no text."""


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of `text`, each with its ending; joined they are `text` again.

    Only "\\n", "\\r\\n" and "\\r" end a line. `str.splitlines` also breaks at form feeds and
    U+2028, which no editor shows as a new line: line numbers would no longer agree with what people
    see.
    """
    # newline="" makes the reader break at all three endings and translate none; it runs in C.
    return tuple(io.StringIO(text, newline=""))


def without_ending(line: str) -> str:
    """`line` without its "\\n", "\\r\\n" or "\\r"."""
    return line.rstrip("\r\n")


def line_ending(lines: Iterable[str]) -> str:
    """The ending most of the lines have; "\\n" where there is none, or as many of each."""
    text = "".join(lines)
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda ending: counts[ending])


def white_folded(text: str) -> str:
    """The text on one line: every run of white space as one blank, and none at its ends."""
    return " ".join(text.split())
