"""The private tags in a text, however they are spelt.

Three forms: `<private>`, `[private]` and `<!-- private -->`, each closed by the same with a slash
before the name. In any of them case, white space before the name, characters that cannot be seen,
accents, full-width and look-alike characters, entities (`&lt;`, `&#60;`) and the escapes of JSON
and its like (`\u003c`, also in pairs) make no difference.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

from pipimem import resources

Form = Literal["angle", "bracket", "comment"]
_SIGNS = {
    "less than": "<",
    "greater than": ">",
    "opening bracket": "[",
    "closing bracket": "]",
    "slash": "/",
    "exclamation mark": "!",
    "hyphen": "-",
}
# The entities by name that a tag may hold; the semicolon may be missing.
_NAMED = ("lt", "gt", "lbrack", "lsqb", "rbrack", "rsqb", "sol", "excl", "dash", "hyphen", "nbsp")
_ENTITIES = {
    **dict(zip(_NAMED, "<>[[]]/!-- ", strict=True)),
    **dict.fromkeys(("shy", "zwj", "zwnj", "zerowidthspace"), ""),
}
_ESCAPED = re.compile(
    r"&(?:amp;|#38;|#x26;){0,3}(?:#x(?P<hex>[0-9a-f]{1,38})|#(?P<number>[0-9]{1,39})"
    rf"|(?P<name>{'|'.join(_ENTITIES)}));?"
    # Behind the first 65,536 characters JSON writes a pair.
    r"|\\u(?P<first>d[89ab][0-9a-f]{2})\\u(?P<second>d[c-f][0-9a-f]{2})"
    r"|\\(?-i:U)(?P<eight>[0-9a-f]{8})|\\u\{(?P<braced>[0-9a-f]{1,6})\}"
    r"|\\u(?P<four>[0-9a-f]{4})|\\x(?P<two>[0-9a-f]{2})",
    re.IGNORECASE,
)
# A character as it is meant is one character, so that tags stand at the same index in both texts:
# what shows nothing is _UNSEEN, the Roman numeral four _FOUR.
_UNSEEN, _FOUR = "\0", "\1"
# Letters of Hangul and a pattern of Braille that show nothing; a backslash before a bracket is
# Markdown's, before a slash JSON's.
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800\\"
_MOST_KNOWN = 4096  # a text of all characters there are must not fill the memory
_U, _S = rf"{_UNSEEN}*+", rf"[\s{_UNSEEN}]*+"
_NAME = _U.join(("p", "r", rf"(?:i{_U}v|{_FOUR})", "a", "t", "e")) + _U
_TAG = re.compile(
    rf"<{_S}!{_S}-[-{_UNSEEN}]*+{_S}(?P<comment>/?){_S}{_NAME}(?!\w){_S}-[-{_UNSEEN}]*+{_S}>"
    rf"|<{_S}/{_S}{_NAME}(?![\w-])(?:{_S}>)?"
    # What stands behind the name of an opening tag are attributes.
    rf"|<{_S}{_NAME}(?![\w-])(?:[^<>]*+>)?"
    rf"|\[{_S}/{_S}{_NAME}(?![\w-]){_S}\]"
    rf"|\[{_S}{_NAME}(?![\w-])[^\[\]<>\n]*+\]"
)


class Tag(NamedTuple):
    """An opening or closing tag: `text[start:end]`."""

    form: Form
    is_closing: bool
    start: int
    end: int


def tags(text: str) -> Iterator[Tag]:
    """Yield the private tags of a text in order; they do not overlap."""
    if _opener().search(text) is None:
        return
    meant = _ESCAPED.sub(_unescaped, text).translate(_table())
    for found in _TAG.finditer(meant):
        is_comment = found["comment"] is not None
        form: Form = "comment" if is_comment else "bracket" if found[0][0] == "[" else "angle"
        sign = found[0].lstrip(rf"<[ \t\r\n{_UNSEEN}")[:1]
        yield Tag(form, found["comment"] == "/" if is_comment else sign == "/", *found.span())


def is_blank(text: str) -> bool:
    """Return whether nothing in a text can be seen."""
    return not text.translate(_table()).strip(f" \t\r\n{_UNSEEN}")


def _unescaped(escape: re.Match[str]) -> str:
    """Return the character of an escape, with as many unseen ones beside it as make it as long.

    A tag begins with its first sign and ends with its last.
    """
    if escape["name"]:
        sign = _ENTITIES[escape["name"].lower()]
    elif escape["first"]:
        high, low = int(escape["first"], 16), int(escape["second"], 16)
        sign = chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
    else:
        codes = (escape[name] for name in ("hex", "eight", "braced", "four", "two"))
        code = next(filter(None, codes), "")
        number = int(code, 16) if code else int(escape["number"])
        sign = chr(number) if number <= sys.maxunicode else ""
    unseen = _UNSEEN * (len(escape[0]) - len(sign))
    return sign + unseen if _folded(sign) in ("<", "[") else unseen + sign


@cache  # the look-alikes do not change while the package runs
def _look_alikes() -> Mapping[str, str]:
    found = dict.fromkeys(_BLANK_LETTERS, "")
    for name, lines in resources.sections("private/look_alikes").items():
        for line in lines:
            meant = _SIGNS.get(name, name)
            found.update((character.casefold(), meant) for character in line.split(" "))
    return found


@cache
def _opener() -> re.Pattern[str]:
    """Return the expression for a character that may begin a tag."""
    known = "".join(sign for sign, meant in _look_alikes().items() if meant in ("<", "["))
    return re.compile(rf"[<＜﹤\[［&\\{known}]")


class _Meant(dict[int, str]):
    """What each character is meant as, by its code, in a table of `str.translate`."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[code] = meant = _folded(chr(code))
        return meant


@cache
def _table() -> _Meant:
    return _Meant()


def _folded(character: str) -> str:
    """Return what a character is meant as: a small letter, a blank, or nothing that is seen."""
    known = _look_alikes().get(character.casefold()) if character else None
    if known is not None:
        return known or _UNSEEN
    if character.isspace():
        return character if character in "\r\n" else " "
    seen = _decomposed(character)
    if seen == "iv":
        return _FOUR
    return seen if len(seen) == 1 else character if seen else _UNSEEN


def _decomposed(character: str) -> str:
    """Return the visible small letters and signs that a character is composed of."""
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join(_look_alikes().get(part, part) for part in plain if not _is_unseen(part))


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Mn", "Me")
