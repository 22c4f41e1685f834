"""Placeholders in past texts: each is the keyed mark of a forgotten line, in its place."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.notes.entry import content_id
from pipimem.text.markdown.lines import without_ending

MARKERS = "-*+#> \t"
"""What may stand before the words of a line; it is no part of a mark."""
# No note has one: a file with NUL bytes is refused as no text.
_SIGN = "\0"


def mark_of(key: bytes, line: str) -> str:
    """Returns a keyed hash of 40 bits of a line's words; bullet and white space do not count."""
    return content_id(key, line.lstrip(MARKERS))


def placeholder(key: bytes, line: str) -> str:
    """The line with its mark for its words; its bullet, indent and ending stay."""
    words = line.lstrip(MARKERS)
    head, ending = line[: len(line) - len(words)], words[len(without_ending(words)) :]
    return f"{head}{_SIGN}{mark_of(key, line)}{ending}"


def is_placeholder(line: str) -> bool:
    """Whether a line of a past text is one."""
    return _SIGN in line


def without_placeholders(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without those that are placeholders."""
    return tuple(line for line in lines if not is_placeholder(line))


def marks_in(lines: Iterable[str]) -> frozenset[str]:
    """The marks of the placeholders among some lines."""
    return frozenset(
        without_ending(line.partition(_SIGN)[2]) for line in lines if is_placeholder(line)
    )
