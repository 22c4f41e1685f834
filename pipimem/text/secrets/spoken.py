"""Secrets as people say them: a word for one, then, within the clause, what is no word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from pipimem import resources
from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.secrets import judge

# Characters and tokens behind the word that are looked through: a bound, or `password=` 10,000
# times is read 10,000 times.
_CLAUSE, _MOST_TOKENS, _BEFORE = 100, 16, 60
_LOOK = 128  # characters of a value that are judged
_CHAR = r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”《》…\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_TOKEN = Pattern(rf"(?![:=|→>.\-/@&~\[\]{{}}+]){_CHAR}{{1,{_LOOK}}}|\$\{{?\w+\}}?|<[^>\n]{{1,40}}>")
_REST = Pattern(rf"{_CHAR}*")
# A password may end with "!": what goes on in small letters is the same clause.
_END = Pattern(r"[\n。；！？]|[.?;](?=[\"'”’]?(?:\s|$))|!(?=\s+[^a-z\s])")
# A sign at the end of a line; `- name: KEY` with `value: …` below it.
_GOES_ON = Pattern(r"[^\n]{0,60}[:=：是下][ \t\r]*\n|[\"']?[ \t\r]*\n\s{1,12}value:")
_QUOTED = Pattern(r"[\"'`“‘「『【](?P<value>[^\"'`”’」』】\n]{1,80})[\"'`”’」』】]")
_OPENING = " \t\r\n\"'“‘「『【`(（["
_CALLED = Pattern(r"\A[\"'][\])]{0,2}[ ]?[,=]\Z")
_OPENING_QUOTES = "\"'`“‘「『【"
_SIGN = Pattern(r"(?:[:=→|]>?|->|=>)\Z|[\"']?\s{1,8}value:\Z")
# "is now set"; characters of the longest verb in Chinese, and of the longest sign.
_LINK_WORDS, _LINK_CHARS, _SIGN_CHARS = 3, 8, 16
_NEAR = Pattern(
    r"[\s\"'`”’\])}“「『【]{0,4}(?:(?:number|no\.?|nr\.?|的|就|现在|目前|已经|我|先|都|也|这边|临时|默认|暂时"
    r"|wi-?fi|wlan)[ ]?){0,3}"
    r"(?:[(（][^()（）\n]{1,24}[)）])?[,，]?\s{0,2}"
)
_OF_WHAT = Pattern(r"\s(?:for|of|to|on|in|del|de|do|da|du|della|für|voor|til|för|от|na)\s\D{1,40}")
_IS = Pattern(r"(?:\s(?:is|was)(?: now)?|[是为])\W{0,3}$")
_TO_WHAT = Pattern(
    r"(?:^|\s)(?:for|of|on|to|at|in|by|from|with|von|für|de|pour|для)\s$|的\s?$|.{24}"
)
_NEGATED = Pattern(
    r"\b(?:not|never|must|cannot|can't|without|no|like|such as|e\.g\.)\b"
    r"|[不别勿没未禁忘须]|什么|[比例]如|要(?![改换])"
)
_LAST = Pattern(r"[\"'`”’)）」』】]|[ ][㐀-鿿]|[ \t]*(?:[.!?;,，。！；、\n|]|$)")
_CALL = Pattern(r"[A-Za-z_][\w.]*(?=[(\[])")
_MORE = Pattern(
    r"(?:[ ][^\W\d_]{1,12}){0,3}[ ](?=[^\s,，。]{0,40}[\d!@#$%^&*])[^\s,，。;；]{2,40}"
    r"(?=\s*(?:$|[\n,，。]))"
)
_SPACED = Pattern(
    r"(?=(?:\d ?){4,10}(?!\d))\d{1,4}(?:[ ]\d{1,4}){1,6}(?=\s*(?:$|[^\s\d:.,-]|[.,](?!\d)))"
)
_MARKS = {
    "code": "code",
    "code with a place": "code",
    "place": "code",
    "key": "key",
    "extraction code": "extraction-code",
}
_HALVES = Pattern(r"(?:\d{3} \d{3}|\d{4} \d{4})(?![\w-]|[ ]\d)")
_MADE_UP = Pattern(r"[\d!@#$%^&*+_]")  # without one a value is a word, which forms do not tell
_HEADING = 160  # characters before and behind a word; a longer line is no heading of a table
# How a value is tied to the word, by `is_told` (a link is between them) and `is_near`.
_TIES = {
    (True, True): "told",
    (True, False): "linked",
    (False, True): "near",
    (False, False): "far",
}
Span = tuple[int, int]


class _Value(NamedTuple):
    """A value behind a word, and how it is tied to it."""

    start: int
    end: int
    tie: str
    is_sign: bool


def mark_kind(kind: str) -> str:
    """Return the kind that a mark names for a kind of word."""
    return _MARKS.get(kind, "password")


def announced(kind: str, text: str, lowered: str, start: int, end: int) -> Iterator[Span]:
    """Yield the places of what a word at `text[start:end]` announces, behind it or before it."""
    if kind in ("code with a place", "place"):
        has_place, has_other = _has_place(lowered, start, end)
        if has_other or (kind == "place" and not has_place):
            return
        kind = "code" if has_place and kind != "place" else kind
    for search in _searches(kind, text, lowered, start, end):
        found = list(search)
        if found:
            yield from found
            return


def _searches(kind: str, text: str, lowered: str, start: int, end: int) -> list[Iterator[Span]]:
    """Return the searches for the values of a word, in order; the first with a result counts."""
    first = _in_forms(kind, text, lowered, start, end, ("first",))
    clause = _in_clause(kind, text, lowered, end)
    around = _in_forms(kind, text, lowered, start, end, ("before", "behind"))
    if kind == "account":  # a name stands first
        return [around]
    if kind == "network":
        return [around, clause]
    return [first, clause, around]


def _in_clause(kind: str, text: str, lowered: str, start: int) -> Iterator[Span]:
    """Yield the values in the rest of the clause: both of a change, all of a list."""
    stop = _clause_end(text, start)
    first = ""
    reached = start
    for token in islice(_TOKEN().finditer(text, start, stop), _MOST_TOKENS):
        if token.start() < reached:
            continue
        if judge.is_mere_word(token[0]) and kind not in ("password", "extraction code"):
            continue
        value = _value(kind, text, lowered, start, stop, token)
        if value is None or not _is_secret(kind, text, value, lowered[start : value.start], first):
            continue
        place = _extended(text, value)
        first = first or text[slice(*place)]
        reached = place[1]
        yield place


def _clause_end(text: str, start: int) -> int:
    """Return where the clause ends; a line that ends with a sign goes on in the next."""
    limit = min(start + _CLAUSE, len(text))
    end = _END().search(text, start, limit)
    if end is not None and _GOES_ON().match(text, start):
        end = _END().search(text, end.end(), limit)
    return end.start() if end else limit


def _value(
    kind: str, text: str, lowered: str, start: int, stop: int, token: re.Match[str]
) -> _Value | None:
    """Return the value that a token opens, without the quotes and the signs of the sentence."""
    between = lowered[start : token.start()]
    is_sign, is_told, gap = _link(between)
    is_word = judge.is_mere_word(token[0])
    if is_word and not is_told and text[token.start() - 1] not in _OPENING_QUOTES:
        return None
    tie = _TIES[is_told, _is_near(between, gap, is_sign)]
    quoted = _QUOTED().match(text, token.start() - 1) if tie != "far" else None
    if quoted:
        return _Value(*quoted.span("value"), tie, is_sign)
    if is_word and tie != "told":
        return None
    spaced = (_SPACED if kind == "code" else _HALVES)().match(text, token.start())
    if spaced:
        return _Value(*spaced.span(), tie, is_sign)
    return _trimmed(text, _Value(*token.span(), tie, is_sign), stop)


def _is_near(between: str, gap: str, is_sign: bool) -> bool:
    """Return whether a gap holds only fillers or, before a sign or "is", what the secret is for."""
    if _NEAR().fullmatch(gap):
        return True
    is_linked = is_sign or _IS().search(between) is not None
    return is_linked and _OF_WHAT().fullmatch(gap) is not None


def _trimmed(text: str, found: _Value, stop: int) -> _Value | None:
    """Return a value without the signs of the sentence at its end, or None if nothing is left.

    A value that `stop` cuts is read to its last character.
    """
    value = text[found.start : found.end]
    if found.end == stop:
        rest = _REST().match(text, stop, stop + _LOOK)
        value += rest[0] if rest else ""
    if found.is_sign:
        value = re.split(r"&\w{1,40}=", value, maxsplit=1)[0]
    value = value.rstrip(".:?]}\\|" if "#" in value else ".:?]}\\|/")
    return found._replace(end=found.start + len(value)) if value else None


def _link(between: str) -> tuple[bool, bool, str]:
    """Return whether a sign, or anything, ties a token to the word, and the text before that."""
    rest = between.rstrip(_OPENING)
    if _CALLED().search(rest):  # conf.set("api_token", "…")
        return False, True, between
    sign = _SIGN().search(rest, max(0, len(rest) - _SIGN_CHARS))
    rest = rest[: sign.start()] if sign else rest
    is_told = sign is not None
    for _ in range(_LINK_WORDS):
        shorter = rest.rstrip(" \t,:")
        size = _link_size(shorter)
        if not size:
            break
        rest, is_told = shorter[:-size], True
    return sign is not None, is_told, rest if is_told else between


def _link_size(text: str) -> int:
    """Return how many characters at the end of a text are a link, as "is" and "'s" are."""
    words, others = _links()
    if text and text[-1] > "~":
        found = others.search(text[-_LINK_CHARS:])
        if found:
            return len(found[0])
    last = text[text.rfind(" ") + 1 :]
    if last in words:
        return len(last)
    return len("'s") if last.endswith("'s") else 0


@cache
def _links() -> tuple[frozenset[str], re.Pattern[str]]:
    latin, scripts, han = resources.sections("secrets/spoken")["links"]
    return frozenset(latin.split(" ")), re.compile(rf"(?:{scripts}|{han})$")


def _is_secret(kind: str, text: str, found: _Value, between: str, first: str) -> bool:
    """Return whether a value is a secret, or, behind the first one, of its form or told."""
    value = text[found.start : found.end]
    if judge.is_no_secret(value) or _CALL().match(text, found.start, found.end + 1):
        return False
    if judge.is_counted(value, text[found.end : found.end + 16]):
        return False
    if found.tie in ("linked", "far") and _NEGATED().search(re.split("[,，]", between)[-1]):
        return False
    if judge.is_announced(kind, found.tie, value, is_last=_is_last(text, found, between)):
        return True
    return _is_another(value, found.tie, first)


def _is_last(text: str, found: _Value, between: str) -> bool:
    """Return whether a value, or the passphrase that it begins behind a sign, ends its clause."""
    if found.tie == "far" and _TO_WHAT().search(between):
        return False
    if _LAST().match(text, found.end):
        return True
    return found.tie == "told" and found.is_sign and _MORE().match(text, found.end) is not None


def _is_another(value: str, tie: str, first: str) -> bool:
    """Return whether a value with a digit, after the first secret, is linked or of its form."""
    if not first or len(value) <= 3 or not any(map(str.isdigit, value)):
        return False
    return tie == "linked" or judge.form(value) == judge.form(first)


def _extended(text: str, found: _Value) -> Span:
    """Return the place of a value with what belongs to it behind a blank, and all of a long key."""
    more = None
    if found.end - found.start >= _LOOK:
        more = _REST().match(text, found.end)
    elif found.tie == "told" and found.is_sign:
        more = _MORE().match(text, found.end)
    return found.start, more.end() if more else found.end


@cache
def _places() -> tuple[re.Pattern[str], re.Pattern[str]]:
    sections = resources.sections("secrets/spoken")
    return re.compile("|".join(sections["places"])), re.compile("|".join(sections["no places"]))


def _has_place(lowered: str, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the clause names what a code opens, and whether another thing with codes."""
    places, others = _places()
    begin = max(0, start - _BEFORE)
    for match in _END().finditer(lowered, begin, start):
        begin = match.end()
    stop = _END().search(lowered, end, end + _BEFORE)
    clause = lowered[begin : stop.start() if stop else end + _BEFORE]
    return places.search(clause) is not None, others.search(clause) is not None


@cache
def _forms() -> dict[tuple[str, str], list[re.Pattern[str]]]:
    """Return the expressions for a kind of word and the place of the value."""
    found: dict[tuple[str, str], list[re.Pattern[str]]] = {}
    for line in resources.sections("secrets/forms")[""]:
        head, _, source = line.partition("  =>  ")
        kinds, place = head.split(" ")
        filled = source.replace("{token}", rf"{_CHAR}{{3,64}}").replace("{han}", f"[{HAN}]")
        pattern = re.compile(filled + ("$" if place == "before" else ""))
        for kind in kinds.replace("_", " ").split(","):
            found.setdefault((kind, place), []).append(pattern)
    return found


def _in_forms(
    kind: str, text: str, lowered: str, start: int, end: int, where: tuple[str, ...]
) -> Iterator[Span]:
    """Yield the first value that one of `forms.txt` finds there."""
    begin = max(0, start - _BEFORE)
    is_simple = "first" not in where and kind != "account"
    if is_simple and not _MADE_UP().search(lowered, begin, end + _CLAUSE):
        return
    for place in where:
        for form in _forms().get((kind, place), ()):
            if place == "before":
                found = form.search(lowered, begin, start)
            else:
                found = form.match(lowered, end, end + _CLAUSE)
            if found and _is_of_form(kind, text, found):
                yield found.span("value")
                return


def _is_of_form(kind: str, text: str, found: re.Match[str]) -> bool:
    start, end = found.span("value")
    value = text[start:end].rstrip(".:?")
    if judge.is_no_secret(value) or judge.is_counted(value, text[end : end + 16]):
        return False
    if " " in value or not value.isascii():  # a phrase; its form says that it is one
        return True
    kind = "code" if kind in ("code", "code with a place", "place") else "password"
    return judge.is_announced(kind, "linked", value, is_last=True)


def table_cells(text: str, start: int, end: int) -> tuple[list[Span], Span] | None:
    """Return the cells below a heading at `text[start:end]`, with where heading and table end.

    The rows have as many cells as the line of the heading; Markdown, CSV and tab-separated text.
    """
    line_start = text.rfind("\n", max(0, start - _HEADING), start) + 1
    line_end = text.find("\n", end, end + _HEADING)
    separator = next((sign for sign in "|\t,，" if sign in text[line_start:line_end]), None)
    if line_end < 0 or start - line_start > _HEADING or separator is None:
        return None
    titles = text[line_start:line_end].split(separator)
    column = text.count(separator, line_start, start)
    if max(map(len, titles)) > 28 or len(titles[column].strip()) > end - start + 8:
        return None
    cells, table_end = _cells_below(text, line_end, separator, len(titles), column)
    return cells, (line_end, table_end)


def _cells_below(
    text: str, heading_end: int, separator: str, width: int, column: int
) -> tuple[list[Span], int]:
    """Return the cells of a column in the rows of `width` cells, and where the last row ends."""
    cells = []
    table_end = heading_end
    while table_end < len(text):
        row_start = table_end + 1
        row_end = text.find("\n", row_start)
        if row_end < 0:
            row_end = len(text)
        row = text[row_start:row_end].split(separator)
        if len(row) != width:
            break
        table_end = row_end
        value = row[column].strip(" \r\"'`")
        if len(value) > 2 and value.strip("-: ") and not judge.is_no_secret(value):
            first = text.index(value, row_start + sum(len(cell) + 1 for cell in row[:column]))
            cells.append((first, first + len(value)))
    return cells, table_end
