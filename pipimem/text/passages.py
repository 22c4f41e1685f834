"""A long text cut into passages, each with the heading that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipimem.text.characters import HAN
from pipimem.text.markdown.lines import closes_fence, fence
from pipimem.text.patterns import Pattern

# Letters of about 120 English words, the length of a passage in the literature on retrieval; a Han
# character says as much as three letters.
_PASSAGE = 720
# About 150 words. A text that is not longer is one passage: its halves would say too little.
_LONGEST_WHOLE = 900
_HAN_LETTERS = 3
# A heading ends a passage that is at least so long; below, short sections share one.
_SHORTEST = _PASSAGE // 3
# A longer line is cut at its sentences, and is no heading.
_LONGEST_LINE = 240

_HAN = Pattern(rf"[{HAN}]")
# `## Steps`, `**Steps**`, `3. **Steps**:`.
_HEADING = Pattern(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+\S.*|(?:\d{1,3}[.)][ \t]+)?\*\*[^*\n]{1,80}\*\*:?)[ \t]*"
)
_SENTENCE = Pattern(r"[^.!?。！？；\n]*(?:[.!?。！？；\n]+\s*|\Z)")
# A longer sentence is cut after a space, a longer word anywhere.
_PART = Pattern(rf"(?s).{{1,{_PASSAGE}}}(?:(?<=\s)|\Z)|.{{1,{_PASSAGE}}}")


class TextPassage(NamedTuple):
    """A stretch of a text, and the heading above it; empty where it begins with its heading."""

    heading: str
    text: str

    @property
    def headed(self) -> str:
        """The text under its heading."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


def passages(text: str) -> tuple[TextPassage, ...]:
    """Return a short text whole, a longer one cut at headings, lines and sentences.

    The texts of the passages, joined, are `text`.
    """
    if _letters(text) <= _LONGEST_WHOLE:
        return (TextPassage("", text),)
    found: list[TextPassage] = []
    heading, above, start, end, size = "", "", 0, 0, 0
    for piece, is_heading in _pieces(text):
        letters = _letters(piece)
        is_full = size + letters > _PASSAGE or (is_heading and size >= _SHORTEST)
        if size and is_full:
            found.append(TextPassage(above, text[start:end]))
            start, size, above = end, 0, heading
        if is_heading:
            heading = piece.strip()
            above = above if size else ""
        end, size = end + len(piece), size + letters
    return (*found, TextPassage(above, text[start:]))


def _letters(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text) + (_HAN_LETTERS - 1) * len(_HAN().findall(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text, long ones by sentences, and whether each is a heading."""
    opened = ""
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if len(line) > _LONGEST_LINE:
            for sentence in _SENTENCE().findall(line):
                yield from ((part, False) for part in _PART().findall(sentence))
        else:
            yield line, not opened and _HEADING().fullmatch(bare) is not None
        opened = ("" if closes_fence(bare, opened) else opened) if opened else fence(bare)
