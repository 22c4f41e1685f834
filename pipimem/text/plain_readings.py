"""The ways a text can be read: in plain characters, and with what is hidden in it decoded."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from pipimem.text.han import has_han
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified, stop_words
from pipimem.text.words.similarity import bigrams, share_in

# Invisible characters in which ASCII can be smuggled begin here.
_TAGS = 0xE0000
_TAG_CHARACTERS = Pattern(r"[\U000e0020-\U000e007e]+")
# Cyrillic and Greek letters that look like Latin ones.
_LOOK_ALIKE = str.maketrans("аеіосрхуѕјһԁΑΒΕΗΙΚΜΝΟΡΤΧαο", "aeiocpxysjhdABEHIKMNOPTXao")
# Letters with one space between any two: at least six, else they are initials.
_SPACED = Pattern(r"(?<!\S)\S(?: {1,3}\S(?!\S)){5,}")
_BASE64 = Pattern(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = Pattern(r"(?:[0-9a-fA-F]{2}){12,}")
_PERCENT = Pattern(r"%[0-9a-fA-F]{2}")
# A name made of words: three joints or more.
_JOINED = Pattern(r"(?<![^\s])[^\s_]++(?:_[^\s_]++){2,}+")
# Nobody hides an order in the end of a book; the longest message a window shows is 4,000.
_MOST_CHARS = 8_000
_PRINTABLE = 0.9
# What is no language when it is turned has hardly a common word in it.
_COMMON_WORDS = 2
# So much of a plain reading stands in a text as it is shown, but where it is disguised.
_SEEN = 0.6


def plain(text: str) -> str:
    """The text in plain characters.

    Entities, full-width and look-alike letters are what they look like, Chinese is simplified,
    invisible characters go, spaced letters and words joined by `_` become words.
    """
    text = html.unescape(text[:_MOST_CHARS])
    text = unicodedata.normalize("NFKC", text)
    text = "".join(one for one in text if unicodedata.category(one) not in ("Cf", "Co", "Cn"))
    if not text.isascii():
        text = simplified(text.translate(_LOOK_ALIKE))
    text = _SPACED().sub(_closed_up, text)
    text = _JOINED().sub(lambda found: found[0].replace("_", " "), text)
    return re.sub(r"\s+", " ", text).strip()


def hidden(text: str) -> str:
    """What invisible characters spell; empty where there are none."""
    found = "".join(_TAG_CHARACTERS().findall(text[:_MOST_CHARS]))
    return "".join(chr(ord(one) - _TAGS) for one in found)


def readings(text: str) -> Iterator[str]:
    """The plain text first, then what it spells invisibly, decoded, turned by rot13 or reversed."""
    first = plain(text)
    yield first
    secret = hidden(text)
    if secret:
        yield plain(secret)
    for coded in _decoded(first):
        yield plain(coded)
    if has_han(first):
        yield first[::-1]
        return
    for turned in (codecs.encode(first, "rot13"), first[::-1]):
        if len(stop_words().intersection(turned.casefold().split())) >= _COMMON_WORDS:
            yield turned


def disguised(text: str) -> Iterator[str]:
    """The readings of a text that its readers do not see in it: decoded, or in odd characters.

    Traditional Chinese and full-width letters are read as they stand.
    """
    first, *others = readings(text)
    yield from others
    folded = simplified(unicodedata.normalize("NFKC", text[:_MOST_CHARS]))
    if share_in(bigrams(first), bigrams(folded)) < _SEEN:
        yield first


def _closed_up(found: re.Match[str]) -> str:
    """Spaced letters as words: where words were, there are three spaces."""
    return re.sub(r" (?! )(?<!  )", "", found[0]).replace("  ", " ")


def _decoded(text: str) -> Iterator[str]:
    for found in _HEX().finditer(text):
        yield from _as_text(bytes.fromhex(found[0]))
    for found in _BASE64().finditer(text):
        coded = found[0].rstrip("=").replace("-", "+").replace("_", "/")
        with_end = coded + "=" * (-len(coded) % 4)
        try:
            yield from _as_text(base64.b64decode(with_end))
        except binascii.Error:
            continue
    if _PERCENT().search(text):
        yield unquote(text)


def _as_text(data: bytes) -> Iterator[str]:
    """The bytes as a text, where they are one."""
    text = data.decode("utf-8", "ignore")
    letters = sum(one.isprintable() for one in text)
    if text and letters >= _PRINTABLE * len(data.decode("utf-8", "replace")):
        yield text
