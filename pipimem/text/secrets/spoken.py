"""Secrets as people say them: a word for one, then, within the clause, what is no word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

from pipimem import resources
from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.secrets import judge

# Characters of a clause behind the word that are looked through: a bound, or `password=` 10,000
# times is read 10,000 times.
_CLAUSE = 100
_BEFORE = 60
_MOST_TOKENS = 16
_LOOK = 128
_CHAR = r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”《》…\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_TOKEN = Pattern(rf"(?![:=|→>.\-/@&~\[\]{{}}+]){_CHAR}{{1,{_LOOK}}}|\$\{{?\w+\}}?|<[^>\n]{{1,40}}>")
_REST = Pattern(rf"{_CHAR}*")
# A password may end with "!": what goes on in small letters is the same clause.
_END = Pattern(r"[\n。；！？]|[.?;](?=[\"'”’]?(?:\s|$))|!(?=\s+[^a-z\s])")
_QUOTED = Pattern(r"(?P<quote>[\"'`“‘「『【])(?P<value>[^\"'`”’」』】\n]{1,80})[\"'`”’」』】]")
_NEXT_PARAMETER = Pattern(r"&\w{1,40}=")
_OPENING = " \t\r\n\"'“‘「『【`(（["
_SIGN = Pattern(r"(?:[:=→|]>?|->|=>)\Z|[\"']?\s{1,8}value:\Z")
_SIGNS = 16  # characters of the longest sign
_LINK_WORDS, _LINK_WORD = 3, 8  # "is now set"; characters of the longest in Chinese
_NEAR = Pattern(
    r"[\s\"'`”’\])}]{0,4}(?:(?:number|no\.?|nr\.?|的|就|现在|目前|已经|我|先|都|也|这边|临时|默认|暂时|now|currently|still)[ ]?){0,3}"
    r"(?:[(（][^()（）\n]{1,24}[)）])?\s{0,2}"
)
_OF_WHAT = Pattern(r"\s(?:for|of|to|on|in|del|de|do|da|du|della|für|voor|til|för|от|do|na)\s\D{1,40}")
_NEGATED = Pattern(r"\b(?:not|never|must|cannot|can't|without|no)\b|[不别勿没未禁忘]")
_FIRST_IN_NEXT = Pattern(
    r"[.。?？!！\n]?[\s\"'”’]{0,3}(?:a:|答:|it['’]?s|it is|就?是|这个是)?[\s:\"“'‘]{0,3}"
)
_ALONE = Pattern(r"[\"'”’]?[ \t]*(?:[.!?。！？\n]|,\s|，|$)")
_LAST_WORD = Pattern(r"[\"'`”’)）」』】]|[ \t]*(?:[.!?;,，。！；、\n|]|$)")
_MORE = Pattern(
    r"(?:[ ][^\W\d_]{1,12}){0,3}[ ](?=[^\s,，。]{0,40}[\d!@#$%^&*])[^\s,，。;；]{2,40}(?=\s*(?:$|[\n,，。]))"
)
_PHRASE = Pattern(r"[^\W\d_]{2,12}(?:[ ][^\W\d_]{2,12}){2,23}(?=\s*(?:$|[\n,，。.]))")
# A sign at the end of a line; `- name: KEY` with `value: …` below it.
_GOES_ON = Pattern(r"[^\n]{0,60}[:=：是下][ \t\r]*\n|[\"']?[ \t\r]*\n\s{1,12}value:")
_CALL = Pattern(r"[A-Za-z_][\w.]*")
_PREPOSITION = Pattern(r"(?:^|\s)(?:for|of|on|to|at|in|by|from|with|von|für|de|pour|для)\s$|的\s?$")
_PAIR_BEFORE = Pattern(r"(?<![\w./-])[\w.@-]{2,64}[ ]?/[ ]?(?P<value>[^\s,，;；。/|\"']{4,64})[^\n]{0,4}$")
_SPACED_DIGITS = Pattern(r"\d{1,4}(?:[ ]\d{1,4}){1,6}(?=\s*(?:$|[^\s\d:.,-]|[.,](?!\d)))")
_HAN_THEN_TOKEN = Pattern(rf"(?P<han>[{HAN}]{{1,8}})(?P<rest>[A-Za-z0-9!@#$%^&*._-]{{4,64}})(?!\w)")
_HAN_PHRASE = Pattern(rf"[{HAN}]{{2,12}}(?=[\s，。；！,;!”」』\"]|$)")
_SEPARATOR = Pattern(r"\s?(?:[/|:,，、]|with|pass|p:|pw|pwd)[ ]{0,2}$")
_PAIR = Pattern(r"(?P<name>[\w.@-]{2,64})[/:|](?P<value>[^/\s]{4,64})")
_KINDS = {"code": "code", "code with a place": "code", "key": "key", "extraction code": "extraction-code"}

_CODES = ("code", "code with a place")
_Table = tuple[list[tuple[int, int]], tuple[int, int]]
Link = Literal["", "sign", "verb"]


class _Found(NamedTuple):
    """The value behind a word: its place, and how it is tied to the word."""

    start: int
    end: int
    link: Link
    is_near: bool


def mark_kind(kind: str) -> str:
    """Return the kind that a mark names for a kind of word."""
    return _KINDS.get(kind, "password")


def announced(kind: str, text: str, lowered: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of what a word at `text[start:end]` announces, behind it or before it."""
    if kind in ("account", "network"):
        found = list(_account(text, lowered, start, end))
        if found or kind == "account":
            yield from found
            return
    if kind == "code with a place" and not _has_place(lowered, start, end):
        return
    found = list(_passphrase(text, lowered, start, end) or _in_clause(kind, text, lowered, end))
    found = found or list(_watchword(text, lowered, start, end))
    found = found or list(_before(kind, text, lowered, start))
    found = found or list(_in_next_clause(kind, text, lowered, end))
    yield from found


def _in_clause(kind: str, text: str, lowered: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the values in the rest of the clause: both of a change, all of a list."""
    stop = _clause_end(text, start)
    first: tuple[int, int] | None = None
    reached = start
    for token in islice(_TOKEN().finditer(text, start, stop), _MOST_TOKENS):
        if token.start() < reached:
            continue
        if _is_mere_word(token[0]):
            if not kind.startswith(("password", "ext")) or not _link(lowered[start : token.start()])[0]:
                continue
        value = _value(kind, text, lowered, start, stop, token)
        if value is None:
            continue
        if _accepts(kind, text, value, lowered[start : value.start]):
            place = _extended(text, value)
        elif first is not None and _is_like(text, first, value):
            place = (value.start, value.end)
        else:
            continue
        first = first or place
        reached = place[1]
        yield place


def _passphrase(text: str, lowered: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the place of the words behind "passphrase …:"."""
    sign = _SIGN_BEHIND().match(text, end) if lowered[start:end] == "passphrase" else None
    phrase = _PHRASE().match(text, sign.end()) if sign else None
    return [phrase.span()] if phrase else []


_SIGN_BEHIND = Pattern(r"[^\n:=.]{0,40}[:=][ ]{0,2}")


def _is_mere_word(token: str) -> bool:
    """Return whether a token is a word as most are, which is a secret only where a link tells it."""
    word = token.rstrip(".:?")
    return word.isalpha() and (word.islower() or len(word) < 8) or judge.is_known_word(word)


def _clause_end(text: str, start: int) -> int:
    """Return where the clause ends; a line that ends with a sign goes on in the next."""
    limit = start + _CLAUSE
    end = _END().search(text, start, limit)
    if end is None:
        return min(limit, len(text))
    if _GOES_ON().match(text, start):
        end = _END().search(text, end.end(), limit)
    return end.start() if end else min(limit, len(text))


def _value(
    kind: str, text: str, lowered: str, start: int, stop: int, token: re.Match[str]
) -> _Found | None:
    """Return the value that a token opens, without the quotes and the signs of the sentence."""
    between = lowered[start : token.start()]
    link, gap = _link(between)
    is_near = _NEAR().fullmatch(gap) is not None
    quoted = _QUOTED().match(text, token.start() - 1) if token.start() else None
    if quoted and (link or is_near):
        return _Found(*quoted.span("value"), link, is_near)
    spaced = _SPACED_DIGITS().match(text, token.start()) if kind in _CODES else None
    if spaced and 4 <= sum(map(str.isdigit, spaced[0])) <= 10:
        return _Found(*spaced.span(), link, is_near)
    value = token[0]
    if token.end() == stop:
        rest = _REST().match(text, stop, stop + _LOOK)
        value += rest[0] if rest else ""
    if link == "sign":
        value = _NEXT_PARAMETER().split(value, maxsplit=1)[0]
    value = value.rstrip(".:?]}\\|" if "#" in value else ".:?]}\\|/")
    if not value:
        return None
    return _Found(token.start(), token.start() + len(value), link, is_near)


def _link(between: str) -> tuple[Link, str]:
    """Return what ties a token to the word before it, and the text in front of that."""
    rest = between.rstrip(_OPENING)
    sign = _SIGN().search(rest, max(0, len(rest) - _SIGNS))
    if sign:
        rest = rest[: sign.start()]
    is_told = False
    for _ in range(_LINK_WORDS):
        shorter = _without_link(rest.rstrip(" \t,:"))
        if shorter is None:
            break
        rest, is_told = shorter, True
    if sign:
        return "sign", rest
    return ("verb", rest) if is_told else ("", between)


def _without_link(text: str) -> str | None:
    """Return a text without the word of telling at its end; `None` if there is none."""
    words, others = _links()
    last = text[text.rfind(" ") + 1 :]
    if last in words:
        return text[: -len(last)]
    if last.endswith("'s"):
        return text[:-2]
    found = others.search(text[-_LINK_WORD:]) if text and not text[-1].isascii() else None
    return text[: len(text) - len(found[0])] if found else None


@cache
def _links() -> tuple[frozenset[str], re.Pattern[str]]:
    latin, scripts, han = resources.sections("secrets/spoken")["links"]
    return frozenset(latin.split(" ")), re.compile(rf"(?:{scripts}|{han})$")


def _accepts(kind: str, text: str, found: _Found, between: str) -> bool:
    value = text[found.start : found.end]
    following = text[found.end : found.end + 16]
    if judge.is_no_secret(value) or (value.isdigit() and judge.is_counted(following)):
        return False
    if following[:1] in ("(", "[") and _CALL().fullmatch(value):
        return False
    if found.link and not found.is_near and _NEGATED().search(between):
        return False
    match kind:
        case "key":
            return _is_key(value, found)
        case "code":
            return bool(found.link or found.is_near) and _is_code(value)
        case "extraction code":
            return found.is_near and value.isascii() and value.isalnum() and 4 <= len(value) <= 8
        case "code with a place" | "place":
            return _is_code_of_place(kind, value, found)
        case "network":
            return found.link == "sign" and judge.is_made_up(value)
    return _is_password(kind, text, value, found, between)


def _is_key(value: str, found: _Found) -> bool:
    if found.is_near:
        is_random = judge.is_uuid(value) or (len(value) >= 16 and judge.is_random(value))
        return judge.is_key(value) if found.link else is_random or _is_short_key(value)
    if found.link:
        return len(value) >= 12 and judge.is_made_up(value)
    return len(value) >= 24 and judge.is_random(value)


def _is_short_key(value: str) -> bool:
    return len(value) >= 10 and (judge.is_made_up(value) or judge.is_varied(value))


def _is_code(value: str) -> bool:
    return len(value) > 2 and judge.is_code(value.replace(" ", ""))


def _is_code_of_place(kind: str, value: str, found: _Found) -> bool:
    if kind == "place":
        return found.is_near and (bool(found.link) or value[-1] in "#*") and _is_code(value)
    return bool(found.link or found.is_near) and _is_code(value)


def _is_password(kind: str, text: str, value: str, found: _Found, between: str) -> bool:
    if judge.has_digit(value):
        return _is_mixed_password(text, value, found, between)
    is_last = _LAST_WORD().match(text, found.end) is not None
    if found.link == "sign" and found.is_near and not is_last:
        is_last = _MORE().match(text, found.end) is not None
    if " " in value:
        return bool(found.link) and value.split()[0].lower() not in ("see", "ask")
    if not found.link:
        return found.is_near and judge.is_made_up(value)
    if not found.is_near and not (found.link == "sign" and _OF_WHAT().match(between)):
        return judge.is_made_up(value)
    if judge.is_made_up(value):
        return True
    if not value.isalpha():
        return is_last and judge.is_password(value)
    return is_last and judge.is_plain_password(value)


def _is_mixed_password(text: str, value: str, found: _Found, between: str) -> bool:
    """Return whether a value with a digit may be a password."""
    digits = sum(map(str.isdigit, value))
    if found.link and found.is_near:
        return judge.is_password(value)
    if found.link:
        return judge.is_made_up(value) or judge.is_varied(value) or (len(value) >= 4 and digits > 1)
    if found.is_near or (between == ", " and text[found.end : found.end + 1] == ","):
        if value.isdigit():
            return 4 <= digits <= 12 or (digits == 3 and _places()[0].search(text, max(0, found.start - 8), found.start) is not None)
        if judge.is_made_up(value) or judge.is_varied(value) or digits > 1:
            return len(value) >= 5
        return len(value) >= 5 and _LAST_WORD().match(text, found.end) is not None
    if judge.is_varied(value) and _LAST_WORD().match(text, found.end):
        return len(between) < 24 and not _PREPOSITION().search(between)
    return judge.is_made_up(value) and len(value) >= 6


def _is_like(text: str, first: tuple[int, int], found: _Found) -> bool:
    """Return whether a value in a list or a change is of the form of the first."""
    value, before = text[found.start : found.end], text[slice(*first)].replace(" ", "")
    if not judge.has_digit(value) or judge.is_no_secret(value):
        return False
    if value.isdigit() or value.replace(" ", "").isdigit():
        is_counted = judge.is_counted(text[found.end : found.end + 16])
        return before.isdigit() and len(value) >= 4 and not is_counted
    return judge.shape(value) == judge.shape(before) or (bool(found.link) and len(value) > 3)


def _extended(text: str, found: _Found) -> tuple[int, int]:
    """Return the place of a value with what belongs to it behind a blank."""
    more = None
    if found.end - found.start >= _LOOK:  # the rest of a key longer than what is judged
        more = _REST().match(text, found.end)
    elif found.link == "sign" and found.is_near:
        more = _MORE().match(text, found.end)
    return found.start, more.end() if more else found.end


@cache
def _places() -> tuple[re.Pattern[str], re.Pattern[str]]:
    sections = resources.sections("secrets/spoken")
    return re.compile("|".join(sections["places"])), re.compile("|".join(sections["no places"]))


def _has_place(lowered: str, start: int, end: int) -> bool:
    """Return whether the clause names what the code opens, and nothing else that has one."""
    places, others = _places()
    begin = max(0, start - _BEFORE)
    for match in _END().finditer(lowered, begin, start):
        begin = match.end()
    stop = _END().search(lowered, end, end + _BEFORE)
    clause = lowered[begin : stop.start() if stop else end + _BEFORE]
    return places.search(clause) is not None and others.search(clause) is None


def _watchword(text: str, lowered: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a secret in Chinese characters, alone or with digits behind them."""
    if lowered[start:end] not in resources.sections("secrets/spoken")["watchword"]:
        return
    link = _LINK_AFTER().match(text, end)
    if link is None:
        return
    taboo = set(resources.sections("secrets/spoken")["no watchword"][0])
    mixed = _HAN_THEN_TOKEN().match(text, link.end())
    if mixed and sum(map(str.isdigit, mixed["rest"])) >= 4 and not taboo & set(mixed["han"][:1]):
        yield mixed.span()
        return
    phrase = _HAN_PHRASE().match(text, link.end())
    if phrase and len(phrase[0]) >= 4 and not taboo & set(phrase[0]):
        yield phrase.span()


_LINK_AFTER = Pattern(r"[ ]?(?:就?是|为|[:：])[ ]?[:：]?[ ]?[“\"「『]?")


@cache
def _tie_before() -> re.Pattern[str]:
    between = "|".join(resources.sections("secrets/spoken")["before"])
    return re.compile(rf"[\"'”’]?(?:{between})$")


@cache
def _new_one_before() -> re.Pattern[str]:
    return re.compile(rf"{_new_one().pattern}(?P<value>{_CHAR}{{4,64}})[,;，][^\n.;。]{{0,24}}$")


_DIGIT = Pattern(r"\d")
_TIE = 34  # characters: " is the guest wifi "
_LAST_TOKEN = Pattern(rf"(?<!{_CHAR}){_CHAR}{{4,64}}$")


def _place_before(before: str) -> tuple[int, int] | None:
    """Return the place of the value in a text that ends where the word for it begins."""
    if _DIGIT().search(before) is None:
        return None
    new = _new_one_before().search(before)
    if new:
        return new.span("value")
    tie = _tie_before().search(before, max(0, len(before) - _TIE))
    token = _LAST_TOKEN().search(before[: tie.start()]) if tie else None
    return token.span() if token else None


def _before(kind: str, text: str, lowered: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the value of "hunter2 is my password", "482913 是你的验证码"."""
    if kind in ("place", "network"):
        return
    begin = max(0, start - _BEFORE)
    found = _place_before(lowered[begin:start])
    if found is None:
        return
    first, last = begin + found[0], begin + found[1]
    value = text[first:last]
    if judge.has_digit(value) and not judge.is_no_secret(value) and value[0] not in ":=/":
        is_number = value.isdigit() or judge.is_code(value)
        if judge.is_made_up(value) or is_number or (kind != "key" and len(value) >= 6):
            yield first, last


def _in_next_clause(kind: str, text: str, lowered: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the value told behind the sentence: "the password? X", "… changed, the new one is X"."""
    may_be_new = _NEW().search(lowered, start, start + _CLAUSE) is not None
    new = _new_one().search(lowered, start, start + _CLAUSE) if may_be_new else None
    token = _TOKEN().match(text, new.end()) if new else None
    end = _END().search(text, start, start + 30)
    if token is None and end is not None and kind != "network":
        opening = _FIRST_IN_NEXT().match(lowered, end.start())
        token = _TOKEN().match(text, opening.end()) if opening else None
        if token and not _ALONE().match(text, token.start() + len(token[0].rstrip(".?!"))):
            token = None
    if token is None:
        return
    value = token[0].rstrip(".:?")
    if judge.is_counted(text[token.start() + len(value) :][:16]) and value.isdigit():
        return
    is_code = kind.startswith(("code", "place")) and judge.is_code(value) and len(value) > 3
    if judge.is_made_up(value) or is_code or (kind == "password" and _has_digits(value)):
        yield token.start(), token.start() + len(value)


def _has_digits(value: str) -> bool:
    return sum(map(str.isdigit, value)) > 1 and len(value) > 3 and not judge.is_no_secret(value)


_NEW = Pattern("n[eo]w|[新现后]")


@cache
def _new_one() -> re.Pattern[str]:
    return re.compile("(?:" + "|".join(resources.sections("secrets/spoken")["new one"]) + ")[\"'“「]?")


def _account(text: str, lowered: str, word: int, start: int) -> Iterator[tuple[int, int]]:
    """Yield the password behind the name of an account: "admin / X", "liwei，X"."""
    before = _PAIR_BEFORE().search(text[max(0, word - _BEFORE) : word])
    if before and judge.is_made_up(before["value"]):
        begin = max(0, word - _BEFORE)
        yield begin + before.start("value"), begin + before.end("value")
    stop = _clause_end(text, start)
    for number, token in enumerate(_TOKEN().finditer(text, start, stop)):
        if number > 5:
            return
        if _is_mere_word(token[0]):
            continue
        value = token[0].rstrip(".:?!)）") if token[0].count("!") > 1 else token[0].rstrip(".:?)")
        pair = _PAIR().fullmatch(value)
        if pair and (judge.is_made_up(pair["value"]) or _has_digits(pair["value"])):
            if "://" not in value and (judge.has_letter(pair["value"]) or len(pair["value"]) > 5):
                yield token.start() + pair.start("value"), token.start() + len(value)
                return
        tie = lowered[max(start, token.start() - 8) : token.start()]
        if number and _SEPARATOR().search(tie):
            if judge.is_made_up(value) or (tie.endswith("/ ") and _has_digits(value) and len(value) > 5):
                yield token.start(), token.start() + len(value)
                return


_HEADING = 160  # characters before and behind the word; a longer line is no heading


def table_cells(text: str, start: int, end: int) -> _Table | None:
    """Return the cells below a heading at `text[start:end]`, with where heading and table end.

    The rows have as many cells as the line of the heading; Markdown, CSV and tab-separated text.
    """
    line_start = text.rfind("\n", max(0, start - _HEADING), start) + 1
    line_end = heading_end = text.find("\n", end, end + _HEADING)
    if line_end < 0 or start - line_start > _HEADING:
        return None
    heading = text[line_start:line_end]
    separator = next((sign for sign in "|\t,，" if sign in heading), None)
    if separator is None:
        return None
    titles = heading.split(separator)
    column = heading[: start - line_start].count(separator)
    if max(map(len, titles)) > 28 or len(titles[column].strip()) > end - start + 8:
        return None
    cells = []
    while line_end < len(text):
        row_start, row_end = line_end + 1, _line_end(text, line_end + 1)
        row = text[row_start:row_end].split(separator)
        if len(row) != len(titles):
            break
        line_end = row_end
        value = row[column].strip(" \r\"'`")
        if len(value) > 2 and value.strip("-: ") and not judge.is_no_secret(value):
            first = row_start + sum(len(cell) + 1 for cell in row[:column]) + row[column].index(value)
            cells.append((first, first + len(value)))
    return cells, (heading_end, line_end)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
