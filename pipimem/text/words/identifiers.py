"""The index words of one stretch of Latin letters and digits.

A word, a number, a name in code, a path, an address.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import compounds, stop_words

# Letters of Latin alphabets with their accents, digits, underscore.
_FIRST = r"a-zA-Z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
LATIN = _FIRST + r"\u0300-\u036f"
# What may stand between them without ending the stretch; "C++" and "C#" keep their tails.
CHUNK = rf"[{_FIRST}](?:[{LATIN}.\-/:@#+'’&\\=?%~]*[{LATIN}])?(?:\+\+|#)?"

# A longer whole is a blob or a tracking link: nobody types it again, its parts do.
LONGEST_WHOLE = 120
LONGEST_PART = 40
# "e-mail", "co-worker", "pre-release": what is so short is a prefix, and left out or glued on as
# often.
_LONGEST_PREFIX = 3

_CONTRACTION = Pattern(rf"(?:n['’]t|['’](?:s|d|ll|m|re|ve))(?![{LATIN}])|['’]", re.IGNORECASE)
_SCHEME = Pattern(r"^[a-z][a-z0-9+]*://(?:www\.)?", re.IGNORECASE)
_DASHES = Pattern(r"\.{2,}|-{2,}|[?&=%~]+")
_COMPONENTS = Pattern(r"[/\\:@]+")
_PARTS = Pattern(r"[._\-+#]+")
_NUMERIC = Pattern(r"[\d.:/+\-]+")
_VERSION = Pattern(r"[vV](\d[\d.]*\d|\d)")
_ORDINAL = Pattern(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
# "e-mail" is also "email".
_HYPHENED = Pattern(r"[^\W\d_]+-[^\W\d_]+")
_PLURAL_ACRONYM = Pattern(r"[A-Z]{2,}s")
# camelCase, HTTPServer, utf8: where one name goes over into the next.
_HUMPS = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")


def identifier_words(chunk: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The whole and the parts, each once, without stop words.

    "src/sync.ts" gives src/sync.ts, src, sync.ts, sync, ts.
    """
    chunk = _CONTRACTION().sub("", _SCHEME().sub("", chunk))
    words: list[str] = []
    pieces = _DASHES().split(chunk)
    for piece in pieces:
        if not piece.endswith(("++", "#")):  # C++ and C# are names
            piece = piece.strip("._-/:@#\\+")
        words += _piece_words(piece, stem, shortest=1 if len(pieces) == 1 else 2)
    return tuple(dict.fromkeys(filter(None, words)))


def unaccented(word: str) -> str:
    """The word in lower case, and "café" as "cafe": people type it both ways."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    return "".join(c for c in unicodedata.normalize("NFD", folded) if not unicodedata.combining(c))


def _piece_words(piece: str, stem: Callable[[str], str], *, shortest: int) -> list[str]:
    if len(piece) < shortest:
        return []
    if _is_plain(piece):
        return _word(piece, stem, shortest=shortest, longest=LONGEST_WHOLE)
    ordinal, version = _ORDINAL().fullmatch(piece), _VERSION().fullmatch(piece)
    if ordinal:
        return [ordinal[1]]
    whole = [unaccented(piece)] if len(piece) <= LONGEST_WHOLE else []
    if version:
        return [*whole, version[1]]
    if _NUMERIC().fullmatch(piece):
        return whole
    return whole + _glued(piece, stem) + _component_words(piece, stem)


def _component_words(piece: str, stem: Callable[[str], str]) -> list[str]:
    """Of a path or an address: what stands between its slashes, and the parts of that."""
    words: list[str] = []
    for component in _COMPONENTS().split(piece):
        is_whole = component == piece or len(component) > LONGEST_WHOLE
        if not is_whole and not _is_plain(component):
            words.append(unaccented(component))
        for part in _PARTS().split(component):
            words += _part_words(part, stem)
    return words


def _glued(piece: str, stem: Callable[[str], str]) -> list[str]:
    """ "e-mail" as "email": a short first part, or a compound that is also written as one word."""
    if not _HYPHENED().fullmatch(piece):
        return []
    first, _, second = unaccented(piece).partition("-")
    if len(first) > _LONGEST_PREFIX and f"{first} {second}" not in compounds():
        return []
    return [stem(first + second)]


def _part_words(part: str, stem: Callable[[str], str]) -> list[str]:
    if _is_plain(part):
        return _word(part, stem, shortest=2, longest=LONGEST_PART)
    words = [unaccented(part)] if 2 <= len(part) <= LONGEST_PART else []
    for hump in _HUMPS().findall(part):
        words += _word(hump, stem, shortest=2, longest=LONGEST_PART)
    return words


def _is_plain(piece: str) -> bool:
    """Whether the piece is one word or one number, not a compound."""
    if piece.isdigit() or _PLURAL_ACRONYM().fullmatch(piece):
        return True
    return piece.isalpha() and (piece[1:].islower() or piece.isupper() or len(piece) == 1)


def _word(piece: str, stem: Callable[[str], str], *, shortest: int, longest: int) -> list[str]:
    word = unaccented(piece.removesuffix("s") if _PLURAL_ACRONYM().fullmatch(piece) else piece)
    if not shortest <= len(word) <= longest or word in stop_words():
        return []
    return [stem(word) if word.isalpha() else word]
