"""Keys that machines make, by the formats of `kinds.txt` and the contexts of `contexts.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pipimem import resources
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.judge import is_placeholder, is_random
from pipimem.text.word_lists import HintedPattern, hinted

ALPHABETS = {
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
    "v": "A-Za-z0-9+/=_-",
    "q": "A-Za-z0-9+/=%_-",
    "u": "A-Za-z0-9_-",
    "t": "A-Za-z0-9_.-",
}
_PART = re.compile(r"\{(\w):(\d+)(-?)(\d*)\}")
_LEAST_PREFIX = 2  # characters; a shorter one would be tried at every tenth word
# No format without a prefix is shorter. Commas and quotes end a run, so that JSON on one line is
# no run of a thousand characters.
_RUN = Pattern(r"[!#-&(-+\--;=?-\[\]-_a-~]{26,}")
# A short name, a hyphen or underscore, and 32 random characters, or a name that says "key" and 20:
# keys of providers to come.
_NAMED_RANDOM = Pattern(
    r"(?<![A-Za-z0-9/_.=+-])(?!sha\d)(?:[A-Za-z][A-Za-z0-9]{1,11}[_-](?:[a-z0-9]{1,8}[_-]){0,3}"
    r"(?P<secret>(?=[^\W_]*?[a-z])(?=[^\W_]*?[A-Z])(?=[^\W_]*?\d)[A-Za-z0-9]{32,})"
    r"|(?:[a-z][a-z0-9]{1,11}[_-]){0,2}(?:api|apikey|key|token|secret|pat|live|prod|sk)[_-]"
    r"(?=[^\W_]{0,19}\d)[A-Za-z0-9]{20,})(?![A-Za-z0-9/_.=+-])"
)
_DSN = Pattern(r"(?<![^\s\"'=])[^\s:/\"'(]{1,64}:(?P<secret>[^\s:/\"'(]{3,127})@(?:tcp|unix)\(")
# What people chose or encoded: its characters prove nothing.
_CHOSEN = frozenset(
    ("password", "basic-credentials", "social-security-number", "passport-number", "key")
)
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)
_NOT_JUDGED = frozenset(("private-key", "seed-phrase", "recovery-codes"))


class Secret(NamedTuple):
    """A secret: its kind, and its place in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int


class _Format(NamedTuple):
    """A line of `kinds.txt`: its prefix, the longest text in it, and its least length."""

    kind: str
    prefix: str
    literal: str
    least: int
    pattern: Pattern


@cache
def _formats() -> tuple[_Format, ...]:
    return tuple(
        _format(kind, line.replace("«", "").replace("»", ""), line)
        for kind, lines in resources.sections("secrets/kinds").items()
        for line in lines
    )


def _format(kind: str, template: str, marked: str) -> _Format:
    parts = _PART.split(template)
    literals = parts[::5]
    least = sum(map(len, literals)) + sum(map(int, parts[2::5]))
    is_fixed = not parts[-3] or parts[-2]
    before = "(?<![A-Za-z0-9])" if template[0].isalnum() or not literals[0] else ""
    source = before + _source(marked) + ("(?![A-Za-z0-9])" if is_fixed else "")
    return _Format(kind, literals[0].lower(), max(literals, key=len), least, Pattern(source))


def _source(template: str) -> str:
    """Return a template as a regular expression; what stands between « and » is `secret`."""
    pieces: list[str] = []
    reached = 0
    for part in _PART.finditer(template):
        most = part[4] or ("" if part[3] else part[2])
        pieces += (
            re.escape(template[reached : part.start()]),
            f"[{ALPHABETS[part[1]]}]{{{part[2]},{most}}}",
        )
        reached = part.end()
    source = "".join(pieces) + re.escape(template[reached:])
    return source.replace("«", "(?P<secret>").replace("»", ")")


@cache
def formats() -> tuple[HintedPattern, ...]:
    """Return the formats that begin with a text of their own, and the contexts, with hints."""
    found = (one for one in _formats() if len(one.prefix) >= _LEAST_PREFIX)
    return (
        *hinted("secrets/contexts"),
        *(HintedPattern(one.kind, (one.prefix,), one.pattern) for one in found),
    )


@cache
def _shapes() -> tuple[_Format, ...]:
    return tuple(one for one in _formats() if len(one.prefix) < _LEAST_PREFIX)


def by_shape(text: str) -> Iterator[Secret]:
    """Yield the keys without a prefix, and those of an unknown prefix."""
    for run in _RUN().finditer(text):
        yield from _keys_without_prefix(text, run)
        yield from _keys_of_unknown_prefix(text, run)
    if "@tcp(" in text or "@unix(" in text:
        for match in _DSN().finditer(text):
            yield from by_format("url-password", match)


def _keys_without_prefix(text: str, run: re.Match[str]) -> Iterator[Secret]:
    """Yield the keys in a run of characters whose format has no prefix."""
    value = run[0]
    for shape in _shapes():
        if len(value) >= shape.least and shape.literal in value:
            for match in shape.pattern().finditer(text, *run.span()):
                yield from by_format(shape.kind, match)


def _keys_of_unknown_prefix(text: str, run: re.Match[str]) -> Iterator[Secret]:
    """Yield the keys in a run of characters that have a prefix of no known format."""
    for match in _NAMED_RANDOM().finditer(text, *run.span()):
        if match["secret"] or is_random(match[0]):
            yield Secret("api-key", *match.span("secret" if match["secret"] else 0))


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
    if kind == "license-key":
        return any(map(str.isdigit, value))
    if kind == "url-password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if kind in _CHOSEN:
        # "xxx" and "xyxy" are placeholders; 1122 is the code of many a door, 0000 of none yet.
        return len(set(value)) > (1 if value.isdigit() else 2)
    return is_random(value)
