"""Keys that machines make, by their format, and numbers that carry a checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from pipimem import resources
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.judge import is_placeholder, is_random
from pipimem.text.word_lists import HintedPattern, hinted


class Secret(NamedTuple):
    """A secret: its kind, and its place in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int


_ALPHABETS = {
    "w": "A-Za-z0-9",
    "l": "a-z0-9",
    "U": "A-Z0-9",
    "h": "a-f0-9",
    "H": "A-F0-9",
    "x": "A-Fa-f0-9",
    "d": "0-9",
    "a": "a-z",
    "b": "A-Za-z0-9+/=",
    "p": "A-Za-z0-9+/.",
    "q": "A-Za-z0-9+/=%_-",
    "u": "A-Za-z0-9_-",
    "v": "A-Za-z0-9+/=_-",
    "t": "A-Za-z0-9_.-",
    "B": "A-Z2-7",
}
_PART = re.compile(r"\{(\w):(\d+)(-?)(\d*)\}")
_LEAST_PREFIX = 2  # characters; a shorter one would be tried at every tenth word
# No format without a prefix is shorter. Commas and quotes end a run, so that JSON on one line is
# no run of a thousand characters.
_RUN = Pattern(r"[!#-&(-+\--;=?-\[\]-_a-~]{26,}")
# A short name, a hyphen or underscore, and 32 random characters: keys of providers to come.
_NAMED_RANDOM = Pattern(r"(?<![A-Za-z0-9/_.=+-])(?!sha\d)[A-Za-z][A-Za-z0-9]{1,11}[_-](?:[a-z0-9]{1,8}[_-]){0,3}(?P<secret>[A-Za-z0-9]{32,})(?![A-Za-z0-9/_.=+-])")
_ALL_CASES = Pattern(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])")
# What people chose or encoded: its characters prove nothing.
_CHOSEN = frozenset(
    ("password", "basic-credentials", "social-security-number", "passport-number", "key")
)
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)
_NOT_JUDGED = frozenset(("private-key", "seed-phrase", "recovery-codes", "license-key"))


def _compiled(template: str) -> str:
    """Return a template of `kinds.txt` as a regular expression."""
    before, inside, rest = template.partition("«")
    secret, _, after = rest.partition("»")
    source = f"{_source(before)}(?P<secret>{_source(secret)}){_source(after)}"
    if not inside:
        source = _source(template)
    if template[0].isalnum() or template[0] == "{":
        source = "(?<![A-Za-z0-9])" + source
    last = list(_PART.finditer(template))[-1]
    is_fixed = not (last[3] and not last[4])
    return source + ("(?![A-Za-z0-9])" if is_fixed else "")


def _source(template: str) -> str:
    pieces, reached = [], 0
    for part in _PART.finditer(template):
        most = part[4] or ("" if part[3] else part[2])
        count = f"{{{part[2]}}}" if most == part[2] else f"{{{part[2]},{most}}}"
        pieces += (re.escape(template[reached : part.start()]), f"[{_ALPHABETS[part[1]]}]{count}")
        reached = part.end()
    return "".join(pieces) + re.escape(template[reached:])


@cache
def formats() -> tuple[HintedPattern, ...]:
    """Return the formats that begin with a text of their own, and the contexts, with hints."""
    found = list(hinted("secrets/contexts"))
    for kind, lines in resources.sections("secrets/kinds").items():
        for line in lines:
            prefix = line.split("{")[0].replace("«", "").lower()
            if len(prefix) >= _LEAST_PREFIX:
                found.append(HintedPattern(kind, (prefix,), Pattern(_compiled(line))))
    return tuple(found)


class _Shape(NamedTuple):
    """A format without a prefix, the text that it holds and its least length."""

    kind: str
    literal: str
    least: int
    pattern: re.Pattern[str]


def _shape(kind: str, template: str) -> _Shape:
    parts = _PART.split(template)
    literals = parts[::5]
    least = sum(map(len, literals)) + sum(map(int, parts[2::5]))
    return _Shape(kind, max(literals, key=len), least, re.compile(_compiled(template)))


@cache
def _shapes() -> tuple[_Shape, ...]:
    return tuple(
        _shape(kind, line)
        for kind, lines in resources.sections("secrets/kinds").items()
        for line in lines
        if len(line.split("{")[0].replace("«", "")) < _LEAST_PREFIX
    )


def by_shape(text: str) -> Iterator[Secret]:
    """Yield the keys without a prefix, and those of an unknown prefix."""
    for run in _RUN().finditer(text):
        value = run[0]
        for kind, literal, least, pattern in _shapes():
            if len(value) >= least and literal in value:
                for match in pattern.finditer(text, *run.span()):
                    yield from by_format(kind, match)
        for match in _NAMED_RANDOM().finditer(text, *run.span()):
            if _ALL_CASES().match(match["secret"]):
                yield from by_format("api-key", match)
    if "@tcp(" in text or "@unix(" in text:
        for match in _DSN().finditer(text):
            yield from by_format("url-password", match)


_DSN = Pattern(r"(?<![^\s\"'=])[^\s:/\"'(]{1,64}:(?P<secret>[^\s:/\"'(]{3,127})@(?:tcp|unix)\(")


def by_format(kind: str, match: re.Match[str]) -> Iterator[Secret]:
    """Yield the place of what a format or a context matched, if it is a secret."""
    group = "secret" if "secret" in match.re.groupindex else 0
    if _is_secret(kind, match[group]):
        yield Secret(kind, *match.span(group))


def _is_secret(kind: str, value: str) -> bool:
    if kind in _NOT_JUDGED:
        return True
    if is_placeholder(value):
        return False
    if kind == "url-password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if kind in _CHOSEN:
        # "xxx" and "xyxy" are placeholders; 1122 is the code of many a door, 0000 of none yet.
        return len(set(value)) > (1 if value.isdigit() else 2)
    return is_random(value)


# Each opens with its first character and then looks behind it: the other way round `re` would try
# every position of the text.
_LONG = Pattern(r"\d[\d -]{12,}")
_LONG_NUMBER = Pattern(r"\d(?<![\w.+-]\d)(?:[ -]?\d){12,18}(?![\w]|[ -]?\d|\.\d)", re.ASCII)
_IDENTITY = Pattern(r"\d(?<![A-Za-z0-9]\d)\d{16}[\dXx](?![A-Za-z0-9])")
_CARD_ISSUER = Pattern(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
_OTHER_NUMBER = Pattern(
    r"(?:单号|订单|快递|运单|编号|流水|工单|order|tracking|invoice|ticket|\bid|message|msg|isbn|imei)\W{0,6}$",
    re.IGNORECASE,
)
_CARD_BEFORE = Pattern(r"(?:卡号?|账号|card(?: (?:number|no\.?))?|visa)\W{0,6}(?:是|is)?\W{0,3}$", re.IGNORECASE)
# Behind a run of digits, what says that it goes on: an X, a letter, a full stop and a digit.
_LOOK = 3
_IBAN_COUNTRIES = (
    "A[DELTZ]|B[AEGHIRY]|C[HRYZ]|D[EJKO]|E[EGS]|F[IKOR]|G[BEILRT]|H[NRU]|I[ELQST]|JO|K[WZ]|L[BCITUVY]"
    "|M[CDEKNRTU]|N[ILO]|OM|P[KLST]|QA|R[OSU]|S[ACDEIKMOTV]|T[LNR]|UA|V[AG]|XK|YE"
)
_IBAN = Pattern(
    r"[A-Z](?<![A-Za-z0-9].)[A-Z]\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])"
)


def checked_numbers(text: str) -> Iterator[Secret]:
    """Yield card, identity and bank account numbers whose check digits are right."""
    for run in _LONG().finditer(text):
        yield from _long_numbers(text, run.start(), run.end() + _LOOK)
    for match in _IBAN().finditer(text):
        if _is_iban(match[0].replace(" ", "")):
            yield Secret("iban", *match.span())


def _long_numbers(text: str, start: int, end: int) -> Iterator[Secret]:
    for match in _IDENTITY().finditer(text, start, end):
        if _is_identity(match[0], text[max(0, match.start() - 12) : match.end() + 6]):
            yield Secret("identity-number", *match.span())
    for match in _LONG_NUMBER().finditer(text, start, end):
        digits = re.sub(r"\D", "", match[0])
        before = text[max(0, match.start() - 16) : match.start()]
        if _is_card(digits, before):
            yield Secret("card-number", *match.span())


def _is_card(digits: str, before: str) -> bool:
    """Return whether a number is a card's; behind "order" or "tracking" it is another's."""
    if _CARD_ISSUER().fullmatch(digits) is None or len(set(digits)) == 1:
        return False
    if _CARD_BEFORE().search(before):
        return True
    return _luhn(digits) and not _OTHER_NUMBER().search(before)


def _is_identity(number: str, around: str) -> bool:
    """Return whether a Chinese identity number has a birth date and the check digit of GB 11643.

    The check digit may be wrong where the text calls it one.
    """
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    if not 1800 <= born.year <= 2100:
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], weights, strict=True))
    return "10X98765432"[total % 11] == number[17].upper() or "身份证" in around


def _luhn(digits: str) -> bool:
    """Return whether the check digit of ISO/IEC 7812-1 is right."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(two // 10 + two % 10 for two in doubled)
    return total % 10 == 0


def _is_iban(number: str) -> bool:
    """Return whether the check digits of ISO 13616 are right: the rest modulo 97 is 1."""
    if re.match(_IBAN_COUNTRIES, number) is None:
        return False
    digits = "".join(str(int(sign, 36)) for sign in number[4:] + number[:4])
    return int(digits) % 97 == 1
