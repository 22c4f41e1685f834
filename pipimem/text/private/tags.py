"""The private tags in a text, however they are spelt.

Three forms: `<private>`, `[private]` and `<!-- private -->`, each closed by the same with a slash
before the name. In any of them case, white space before the name, characters that cannot be seen,
accents, full-width and look-alike characters, entities (`&lt;`, `&#60;`) and the escapes of JSON
and its like (`\u003c`, also in pairs) make no difference. Each character of the text is looked at
a bounded number of times.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from pipimem import resources
from pipimem.text.patterns import Pattern

_FENCE = Pattern(r"[ \t]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
# The backticks of "don`t" and "the`x`" do not stand where code begins or ends.
_BACKTICKS = Pattern(r"`+")


@dataclass(frozen=True, slots=True)
class _FenceLine:
    """A line that may open a fence, and close one where nothing stands behind it."""

    sign: str
    length: int
    may_open: bool
    may_close: bool


def code_areas(text: str) -> Iterator[tuple[int, int]]:
    """The places of code, `text[start:end]` with the fences or backticks, in order."""
    lines = text.splitlines(keepends=True)
    closers = _closers([_fence_line(line) for line in lines])
    start = number = 0
    while number < len(lines):
        last = closers.get(number)
        if last is None:
            yield from _spans(lines[number], start)
            start, number = start + len(lines[number]), number + 1
        else:
            end = start + sum(len(line) for line in lines[number : last + 1])
            yield start, end
            start, number = end, last + 1


def _fence_line(line: str) -> _FenceLine | None:
    found = _FENCE().match(line)
    if found is None:
        return None
    sign, info = found["fence"][0], found["info"].strip()
    may_open = sign == "~" or "`" not in info
    return _FenceLine(sign, len(found["fence"]), may_open, may_close=not info)


def _closers(lines: Sequence[_FenceLine | None]) -> dict[int, int]:
    """The line that closes each fence, by the line that opens it; only where there is one."""
    longest = _longest_closer_behind(lines)
    found: dict[int, int] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        if line is not None and line.may_open and longest[line.sign][number] >= line.length:
            found[number] = number = _closer_of(line, lines, number + 1)
        number += 1
    return found


def _closer_of(opener: _FenceLine, lines: Sequence[_FenceLine | None], number: int) -> int:
    while True:
        line = lines[number]
        is_one = line is not None and line.may_close and line.sign == opener.sign
        if line is not None and is_one and line.length >= opener.length:
            return number
        number += 1


def _longest_closer_behind(lines: Sequence[_FenceLine | None]) -> dict[str, list[int]]:
    """By sign, how long the longest fence that may close is behind each line: no search for a
    closing line is in vain, so all of them together read each line once.
    """
    longest = {"`": [0] * len(lines), "~": [0] * len(lines)}
    for number in range(len(lines) - 1, 0, -1):
        line = lines[number]
        for sign, lengths in longest.items():
            is_one = line is not None and line.may_close and line.sign == sign
            length = line.length if line is not None and is_one else 0
            lengths[number - 1] = max(lengths[number], length)
    return longest


def _spans(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """The code spans of a line: runs of as many backticks, with something between them."""
    if "`" not in line:
        return
    runs = [found.span() for found in _BACKTICKS().finditer(line)]
    closers = _closing_runs(line, runs)
    number = 0
    while number < len(runs):
        closer = closers[number]
        if closer is not None and _may_begin(line, runs[number][0]):
            yield offset + runs[number][0], offset + runs[closer][1]
            number = closer
        number += 1


def _closing_runs(line: str, runs: Sequence[tuple[int, int]]) -> list[int | None]:
    """For each run the next one of its length that may close."""
    closers: list[int | None] = [None] * len(runs)
    nearest: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        closers[number] = nearest.get(end - start)
        if not _is_of_a_word(line[end : end + 1]):
            nearest[end - start] = number
    return closers


def _may_begin(line: str, start: int) -> bool:
    before = line[start - 1] if start else ""
    return before != "\\" and not _is_of_a_word(before)


def _is_of_a_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


Form = Literal["angle", "bracket", "comment"]
_NAME = "private"
_SIGNS = {
    "less than": "<",
    "greater than": ">",
    "opening bracket": "[",
    "closing bracket": "]",
    "slash": "/",
    "exclamation mark": "!",
    "hyphen": "-",
}
# Letters of Hangul and a pattern of Braille that show nothing.
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"
# The entities by name that a tag may hold; the semicolon may be missing.
_ENTITIES = {
    "lt": "<",
    "gt": ">",
    "lbrack": "[",
    "lsqb": "[",
    "rbrack": "]",
    "rsqb": "]",
    "sol": "/",
    "excl": "!",
    "dash": "-",
    "hyphen": "-",
    "nbsp": " ",
    "shy": "",
    "zwj": "",
    "zwnj": "",
    "ZeroWidthSpace": "",
}
_AMPERSAND = r"&(?:amp;|#38;|#x26;){0,3}"
_NUMBER = "#0{0,32}[0-9]{1,7}|#x0{0,32}[0-9a-f]{1,6}"
_ESCAPE = (
    rf"{_AMPERSAND}(?:{_NUMBER}|{'|'.join(_ENTITIES)});?|\\u\{{[0-9a-f]{{1,6}}\}}"
    r"|\\(?-i:U)[0-9a-f]{8}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}"
)
_ESCAPED = Pattern(
    rf"{_AMPERSAND}(?:#x(?P<hex>[0-9a-f]{{1,38}})|#(?P<number>[0-9]{{1,39}})"
    rf"|(?P<name>{'|'.join(_ENTITIES)}));?"
    # Behind the first 65,536 characters JSON writes a pair.
    r"|\\u(?P<first>d[89ab][0-9a-f]{2})\\u(?P<second>d[c-f][0-9a-f]{2})"
    r"|\\(?-i:U)(?P<eight>[0-9a-f]{8})|\\u\{(?P<braced>[0-9a-f]{1,6})\}"
    r"|\\u(?P<four>[0-9a-f]{4})|\\x(?P<two>[0-9a-f]{2})",
    re.IGNORECASE,
)


# Tags as nearly everybody writes them are read at once: 2 MB of them take a second.
_AS_USUAL = r"</?private>|[\[［【]/?private[\]］】]|<!-- ?/?private ?-->"


class Tag(NamedTuple):
    """An opening or closing tag: `text[start:end]`."""

    form: Form
    is_closing: bool
    start: int
    end: int


def tags(text: str) -> Iterator[Tag]:
    """The private tags of a text in order; they do not overlap."""
    reached = 0
    for found in _candidate()().finditer(text):
        start, end = found.span()
        if start < reached:
            continue
        tag = _tag_as_usual(found[0], start, end) if end > start else _tag_at(text, start)
        if tag is not None:
            reached = tag.end
            yield tag


def _tag_as_usual(written: str, start: int, end: int) -> Tag:
    form: Form = "angle"
    if written[0] != "<":
        form = "bracket"
    elif written[1] == "!":
        form = "comment"
    return Tag(form, "/" in written, start, end)


def is_blank(text: str) -> bool:
    """Whether nothing in a text can be seen."""
    return all(_folded(character) in ("", " ") for character in text)


@cache  # the look-alikes do not change while the package runs
def _look_alikes() -> Mapping[str, str]:
    found = dict.fromkeys(_BLANK_LETTERS, "")
    for name, lines in resources.sections("private/look_alikes").items():
        for line in lines:
            meant = _SIGNS.get(name, name)
            found.update((character.casefold(), meant) for character in line.split(" "))
    return found


@cache
def _openers() -> str:
    """The characters that begin a tag, as the inside of a character class."""
    known = "".join(sign for sign, meant in _look_alikes().items() if meant in "<[" and meant)
    return rf"<＜﹤\[［{known}"


@cache
def _candidate() -> Pattern:
    """A tag as usual, or where another may begin: an opener, signs, and what may be a P.

    The signs between hold no opener, so no two searches read the same ones.
    """
    first = rf"(?:[{_openers()}]|{_ESCAPE})"
    signs = rf"(?:[^\w&{_openers()}]|[{_BLANK_LETTERS}])*"
    # Behind a P stands an R, what may be one, or what cannot be seen.
    name = r"p(?=[r&\\\x00-\x1f\x7f]|[^\x00-\x7f])|&|[^\x00-\x7f]|(?<=\\)[ux]"
    # Of the latter nothing is taken: the backslash behind one sign may begin the next, an escape.
    return Pattern(rf"{_AS_USUAL}|(?={first}{signs}(?:{name}))", re.IGNORECASE)


def _tag_at(text: str, start: int) -> Tag | None:
    opener, at = _read(text, start)
    if opener not in ("<", "["):
        return None
    sign, behind = _next(text, at)
    form: Form = "angle" if opener == "<" else "bracket"
    if sign == "!" and form == "angle":
        form, at = "comment", _past(text, behind, "-")
        if at == behind:
            return None
    sign, behind = _next(text, at)
    is_closing = sign == "/"
    behind_name = _past_name(text, behind if is_closing else at, form)
    if behind_name is None:
        return None
    end = _end(text, behind_name, form, is_closing=is_closing)
    return Tag(form, is_closing, start, end) if end is not None else None


def _past_name(text: str, at: int, form: Form) -> int | None:
    """Where the name ends that stands behind white space; `None` where another word stands."""
    at = _past(text, at, " ")
    read = text[at : at + len(_NAME)].lower()
    read, at = (read, at + len(read)) if read == _NAME else ("", at)
    while read != _NAME:
        if at >= len(text):
            return None
        letters, at = _read(text, at)
        read += letters
        if not _NAME.startswith(read):
            return None
    following, _ = _next(text, at, blanks="")
    is_longer = following[:1].isalnum() or following == "_"
    return None if is_longer or (following == "-" and form != "comment") else at


def _end(text: str, at: int, form: Form, *, is_closing: bool) -> int | None:
    """Where the tag ends whose name ends at `at`; `None` where it is none after all.

    An angle tag without its `>` ends with the name: what follows is no part of it.
    """
    if form == "comment":
        dashes = _past(text, at, " ")
        behind = _past(text, dashes, "-")
        sign, end = _next(text, behind)
        return end if behind > dashes and sign == ">" else None
    if is_closing or form == "bracket":
        sign, end = _next(text, at)
        if sign == (">" if form == "angle" else "]"):
            return end
        if is_closing:
            return at if form == "angle" else None
    return _behind_attributes(text, at, form)


def _behind_attributes(text: str, at: int, form: Form) -> int | None:
    """Where an opening tag with attributes ends: all up to the next bracket belongs to it."""
    for found in _bracket()().finditer(text, at):
        sign, end = _read(text, found.start())
        if sign == (">" if form == "angle" else "]"):
            return end
        # What stands in brackets of another kind is no attribute, but may be a tag.
        if sign == "<" or form == "bracket":
            break
    return at if form == "angle" else None


@cache
def _bracket() -> Pattern:
    known = "".join(sign for sign, meant in _look_alikes().items() if meant and meant in "<>[]")
    return Pattern(rf"[<>\[\]＜＞﹤﹥［］\n{known}]|{_ESCAPE}", re.IGNORECASE)


def _next(text: str, at: int, blanks: str = " ") -> tuple[str, int]:
    """The next character that is no white space, folded, and where the one behind it begins."""
    at = _past(text, at, blanks)
    return _read(text, at) if at < len(text) else ("", at)


def _past(text: str, at: int, signs: str) -> int:
    """Where something else begins than these signs and what cannot be seen."""
    while at < len(text):
        sign, behind = _read(text, at)
        if sign and sign not in signs:
            break
        at = behind
    return at


def _read(text: str, at: int) -> tuple[str, int]:
    """The character at a place as `_folded` gives it, and where the next one begins."""
    character = text[at]
    if character not in "&\\":
        return _folded(character), at + 1
    escape = _ESCAPED().match(text, at)
    if escape is not None:
        return _folded(_unescaped(escape)), escape.end()
    # A backslash before a bracket is Markdown's, before a slash JSON's.
    return ("" if character == "\\" else character), at + 1


def _unescaped(escape: re.Match[str]) -> str:
    if escape["name"]:
        return _ENTITIES.get(escape["name"].lower(), "")
    if escape["first"]:
        high, low = int(escape["first"], 16), int(escape["second"], 16)
        return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
    codes = (escape[name] for name in ("hex", "eight", "braced", "four", "two"))
    code = next(filter(None, codes), "")
    number = int(code, 16) if code else int(escape["number"])
    return chr(number) if number <= sys.maxunicode else ""


@lru_cache(maxsize=4096)  # a text of all characters there are must not fill the memory
def _folded(character: str) -> str:
    """What a character is meant as: small letters, a blank for white space, "" for nothing."""
    known = _look_alikes().get(character.casefold())
    if known is not None or not character:
        return known or ""
    if character.isspace():
        return " "
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join(_look_alikes().get(each, each) for each in plain if not _is_unseen(each))


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Mn", "Me")
