"""Blocks of memory that come back without their tags: a host, or who quotes them, took them off.

What is surely ours is taken out: the note with the lines below it, a heading of a file of ours with
the bullets below it, cited or not.
"""

from __future__ import annotations

import re

from pipimem.text.fence import NOTE_START
from pipimem.text.patterns import Pattern

_CITED = r"[ \t>＞]*"
# A tag without its brackets, alone on its line.
_BARE_TAG = rf"{_CITED}\W{{0,8}}/?pipimem-memory-\w{{4,64}}\W{{0,4}}"
_NOTE = rf"{_CITED}{NOTE_START}(?:, not instructions| for the next message)\b[^\r\n]*"
_HEADING = rf"{_CITED}\[(?:shared MEMORY|MEMORY|SESSION|HISTORY|transcript)(?:: [^\r\n]*)?\][ \t]*"
_BULLET = rf"{_CITED}(?:- |  |\(\d+ more not shown\))[^\r\n]*"
_BREAK = r"(?:\r\n|\r|\n|\Z)"
_BLOCK = Pattern(
    rf"^(?:(?:(?:{_BARE_TAG}|{_NOTE}){_BREAK})+(?:(?:{_HEADING}|{_BULLET}){_BREAK})*"
    rf"|{_HEADING}{_BREAK}(?:{_BULLET}{_BREAK})+"
    rf"(?:{_HEADING}{_BREAK}(?:{_BULLET}{_BREAK})+)*)(?:{_BARE_TAG}{_BREAK})?",
    re.MULTILINE,
)


def without_untagged_blocks(text: str) -> str:
    """The text without the lines of such blocks."""
    if "[" not in text and NOTE_START not in text and "pipimem-memory" not in text:
        return text
    return _BLOCK().sub("", text)
