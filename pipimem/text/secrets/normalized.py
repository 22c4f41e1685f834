"""A text as patterns read it: half-width, simplified, without invisible characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified_characters

# Soft hyphen, zero-width blanks and joiners, word joiner: one inside "password" and no pattern
# sees the word.
_INVISIBLE = Pattern("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_FULL_WIDTH, _HALF_WIDTH = 0xFEE0, range(0x21, 0x7F)
# These end a clause or a value in Chinese, which their ASCII forms may be a part of.
_KEPT = "，！？；（）．"
_TYPOGRAPHIC = {"\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'"}


class Normalized:
    """A normalized text and the index in the original of each of its characters."""

    __slots__ = ("_indexes", "lowered", "text")

    def __init__(self, text: str) -> None:
        self._indexes: Sequence[int] | None = None
        if not text.isascii():
            if _INVISIBLE().search(text) is not None:
                hidden = {match.start() for match in _INVISIBLE().finditer(text)}
                self._indexes = [index for index in range(len(text)) if index not in hidden]
                text = "".join([text[index] for index in self._indexes])
            table, signs = _table()
            text = signs.sub(lambda sign: table[sign[0]], text)
        self.text = text
        self.lowered = _lowered(text)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original text of `text[start:end]`, which is not empty."""
        if self._indexes is None:
            return start, end
        return self._indexes[start], self._indexes[end - 1] + 1


def _lowered(text: str) -> str:
    """Return the text in lower case, character by character: "İ" would be two."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


@cache
def _table() -> tuple[dict[str, str], re.Pattern[str]]:
    wide = {chr(code + _FULL_WIDTH): chr(code) for code in _HALF_WIDTH}
    for sign in _KEPT:
        wide.pop(sign, None)
    table = {**simplified_characters(), **wide, **_TYPOGRAPHIC}
    return table, re.compile(f"[{re.escape(''.join(table))}]")
