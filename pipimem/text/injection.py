"""Whether a text reads like an attack on a bot, and what is hidden or encoded in it.

The patterns are data: `data/injection/attacks.txt` has the attacks by kind, `voices.txt` the words
that make a text of others one's own, agree to it, order something, or address a bot.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal
from urllib.parse import unquote

from pipimem import resources
from pipimem.text.characters import HAN, has_han
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import simplified

# Invisible characters in which ASCII can be smuggled begin here.
_TAGS = 0xE0000
_TAG_CHARACTERS = Pattern(r"[\U000e0020-\U000e007e]+")
# Cyrillic and Greek letters that look like Latin ones.
_LOOK_ALIKE = str.maketrans("аеіосрхуѕјһԁΑΒΕΗΙΚΜΝΟΡΤΧαο", "aeiocpxysjhdABEHIKMNOPTXao")
# Letters with one space between any two: at least six, else they are initials.
_SPACED = Pattern(r"(?<!\S)[^\W\d_](?: {1,3}[^\W\d_](?!\S)){5,}")
_BASE64 = Pattern(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = Pattern(r"(?:[0-9a-fA-F]{2}){12,}")
_PERCENT = Pattern(r"%[0-9a-fA-F]{2}")
# A name made of words: three joints or more.
_JOINED = Pattern(r"(?<![^\s])[^\s_]++(?:_[^\s_]++){2,}+")
# Nobody hides an order in the end of a book; the longest message a window shows is 4,000.
_MOST_CHARS = 8_000
_PRINTABLE = 0.9
# Signs that do not stand in a text for their own sake, by how many of them there may be.
_ODD = (
    (Pattern(r"[\U000e0020-\U000e007e]{4}"), 0),
    (_SPACED, 0),
    (Pattern(rf"(?<=[A-Za-z{HAN}])[\u200b-\u200d\u2060\ufeff](?=[A-Za-z{HAN}])"), 3),
    (Pattern(r"&#x?[0-9A-Fa-f]{2,6};"), 3),
    (Pattern(r"(?<![^\s])(?!\S*://)\S*?%[0-9A-Fa-f]{2}\S*?%[0-9A-Fa-f]{2}"), 0),
    # Latin letters and those that look like them in one word.
    (Pattern(r"\b(?=\w*[A-Za-z])\w*[аеіосрхуѕјһԁ]\w*"), 1),
)


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
    """The plain text first, then what it spells invisibly, and decoded."""
    first = plain(text)
    yield first
    secret = hidden(text)
    if secret:
        yield plain(secret)
    for coded in _decoded(first):
        yield plain(coded)


def is_encoded(text: str) -> bool:
    """Whether something is written in a text in a way that its readers do not see.

    Encoded, or in odd characters. Traditional Chinese and full-width letters are read as they
    stand, and an address may have escapes in it.
    """
    text = text[:_MOST_CHARS]
    if any(len(pattern().findall(text)) > most for pattern, most in _ODD):
        return True
    decoded = _decoded(plain(text), escapes=False)
    return any(" " in coded.strip() or has_han(coded) for coded in decoded)


def disguised(text: str) -> Iterator[str]:
    """The readings of a text that its readers do not see in it, all where it is encoded."""
    first, *others = readings(text)
    yield from others
    if is_encoded(text):
        yield first


def _closed_up(found: re.Match[str]) -> str:
    """Spaced letters as words: where words were, there are three spaces."""
    return re.sub(r" (?! )(?<!  )", "", found[0]).replace("  ", " ")


def _decoded(text: str, *, escapes: bool = True) -> Iterator[str]:
    for found in _HEX().finditer(text):
        yield from _as_text(bytes.fromhex(found[0]))
    for found in _BASE64().finditer(text):
        coded = found[0].rstrip("=").replace("-", "+").replace("_", "/")
        with_end = coded + "=" * (-len(coded) % 4)
        try:
            yield from _as_text(base64.b64decode(with_end))
        except binascii.Error:
            continue
    if escapes and _PERCENT().search(text):
        yield unquote(text)


def _as_text(data: bytes) -> Iterator[str]:
    """The bytes as a text, where they are one."""
    text = data.decode("utf-8", "ignore")
    letters = sum(one.isprintable() for one in text)
    if text and letters >= _PRINTABLE * len(data.decode("utf-8", "replace")):
        yield text


_LATIN = Pattern(r"[A-Za-z]{2}|[|{#<\[]")
_WORDS = Pattern(r"[a-z]{2}")
_ATTACKS, _VOICES = "injection/attacks", "injection/voices"
Voice = Literal["keep", "agreed", "contrast", "order", "addressed"]


@lru_cache(maxsize=1024)  # a sentence is judged as it was said, and as an entry
def injection_kind(text: str) -> str:
    """Return the kind of attack that a text reads like (`override` …), empty if it is none."""
    for reading in readings(text):
        for kind in resources.sections(_ATTACKS):
            if _is_found(_ATTACKS, kind, reading):
                return kind
    return ""


def has_voice(voice: Voice, text: str) -> bool:
    """Return whether a text has words of a section of `voices.txt`."""
    return _is_found(_VOICES, voice, plain(text))


def agrees(own: str) -> bool:
    """Return whether somebody's own words agree to what stands before them, without a but."""
    return has_voice("agreed", own) and not has_voice("contrast", own)


def _is_found(name: str, section: str, text: str) -> bool:
    """Return whether a text shows a pattern of a section; `text` is in plain characters."""
    is_chinese, is_latin = has_han(text), _LATIN().search(text) is not None
    return any(
        ((for_chinese and is_chinese) or (for_latin and is_latin)) and pattern().search(text)
        for for_chinese, for_latin, pattern in _patterns(name, section)
    )


@cache
def _patterns(name: str, section: str) -> tuple[tuple[bool, bool, Pattern], ...]:
    """Return each pattern, behind whether it has Chinese and Latin words."""
    sources = (line.partition("  =>  ")[0] for line in resources.sections(name)[section])
    return tuple(
        (has_han(source), _WORDS().search(source) is not None, Pattern(source, re.IGNORECASE))
        for source in sources
    )
