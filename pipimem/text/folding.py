"""Texts folded for comparison: what reads alike is equal, however it was typed."""

from __future__ import annotations

import re
from unicodedata import normalize

from pipimem.text.characters import storable, without_emoji
from pipimem.text.markdown.lines import white_folded

MARKERS = "-*+#> \t"
"""What may stand before the words of a line of Markdown."""
# Digits and the letters of Latin, Greek and Cyrillic, after case folding: scripts that put blanks
# between words.
_LETTERS = r"0-9a-z\u00df-\u00f6\u00f8-\u052f\u1e00-\u1fff"
_WORD_BEGINS = f"(?:(?<![{_LETTERS}])|(?![{_LETTERS}]))"
_WORD_ENDS = f"(?:(?![{_LETTERS}])|(?<![{_LETTERS}]))"
# Control characters that are no white space, and Unicode's Default_Ignorable_Code_Point: soft
# hyphens, joiners, zero-width blanks, marks of direction, variation selectors, tags.
_UNSEEN = re.compile(
    r"[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SIGNS = {
    # Editing a note turns NUL bytes into blanks.
    "\0": " ",
    **dict.fromkeys("‘’‚‛ʹʻʼʽ՚′‵´\u0374\u1ffd‹›ꞌ", "'"),
    **dict.fromkeys("“”„‟″‶«»〝〞〟", '"'),
    **dict.fromkeys("‐‑‒–—―⁃−˗", "-"),
    "〜": "~",
    "ŉ": "'n",
}
# A text without any of them is not gone through sign by sign: that takes ten times as long.
_ALIKE = re.compile(f"[{''.join(_SIGNS)}]")
_LETTER = re.compile(f"[{_LETTERS}]")
_MARKS = re.compile(r"(?:[*_`]|~~)+")
_DECORATION = re.compile(r"[*_`~]|(?:^|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[ \t]*[-+#>]")


def folded(text: str) -> str:
    """Return a text as it is compared.

    White space becomes one blank; case, width, unseen characters, the shape of quotation marks and
    dashes, and how accents are encoded do not count.
    """
    text = _ALIKE.sub(_sign, _UNSEEN.sub("", storable(text)))
    text = normalize("NFKC", normalize("NFKC", text).casefold())
    # Some signs are made of others, which came to light only now.
    return white_folded(_ALIKE.sub(_sign, text))


def _sign(found: re.Match[str]) -> str:
    return _SIGNS[found[0]]


def folded_as_shown(text: str) -> str:
    """Return a text folded, without emoji, bullets and the marks of bold, italic and code words.

    Emoji go because what is learnt from a message has none.
    """
    lines = without_emoji(text).splitlines()
    line = folded(" ".join(line.lstrip(MARKERS) for line in lines))
    return white_folded(_MARKS.sub(_without_marks, line))


def is_decorated(text: str) -> bool:
    """Return whether `folded_as_shown` may leave out what `folded` keeps."""
    return _DECORATION.search(text) is not None or without_emoji(text) != text


def _without_marks(marks: re.Match[str]) -> str:
    """Return no marks where they begin or end a word; `2*3`, `2 * 3` and `snake_case` keep them."""
    line, start, end = marks.string, *marks.span()
    before, after = line[max(0, start - 1) : start], line[end : end + 1]
    is_inside = _LETTER.match(before) and _LETTER.match(after)
    is_alone = not before.strip() and not after.strip()
    return marks[0] if is_inside or is_alone else ""


def stands_in(text: str, needle: str, *, inside_words: bool) -> bool:
    """Return whether a folded text holds a folded needle.

    Unless `inside_words`, `tom` is not in `tomorrow`: a needle that begins or ends with a letter or
    digit of a script with blanks between words begins or ends a word there.
    """
    if inside_words or needle not in text:
        return needle in text
    return re.search(_WORD_BEGINS + re.escape(needle) + _WORD_ENDS, text) is not None
