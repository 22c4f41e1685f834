"""Tokens in the rest of a clause that can only be a secret, once the clause speaks of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.phrases import phrases
from pipimem.text.secrets.values import (
    has_digit,
    has_letter,
    is_measure,
    is_no_secret,
    looks_made_up,
    looks_random,
)

# How far the rest of a clause is looked through, where nothing follows at once.
_CLAUSE = 100
_END = Pattern(r"[\n。；！？]|[.!?;](?=\s|$)")
# Part of an address, of a name in code, or of a Chinese clause that tells no value.
_GLUED = Pattern(rf"[A-Za-z0-9_/?&.]$|[{HAN}](?<![{phrases('before a token: chinese')}])$")
_DIGIT_OR_SIGN = Pattern(r"[0-9!@#$%^&*]")
_TOKEN = Pattern(r"[A-Za-z0-9!@#$%^&*+=._~/-]{5,256}")
_LONG_TOKEN = Pattern(r"[A-Za-z0-9!@#$%^&*+=._~/-]{16,256}")  # no shorter one is a key
# What is named so is no key, however random it looks.
_NAMED_OTHERWISE = Pattern(
    rf"(?:{phrases('names of what is no key')})\W{{0,3}}\w{{0,12}}\W{{0,3}}$",
    re.IGNORECASE,
)
_TELLS = Pattern(
    rf"(?:\b(?:{phrases('tells what follows: english')})"
    rf"|[:：=/{phrases('tells what follows: chinese')}])[ ]?$"
)
# A token is judged by so many characters, and taken to its end.
_LOOK = 256
_REST = Pattern(r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”‘’《》…\u2e80-\u9fff\uff00-\uffef]*")
_BEFORE = 12


def tokens_of_clause(kind: str, text: str, start: int) -> Iterator[tuple[int, int]]:
    """The tokens of the rest of a clause that are no words: "the password for web-2 was …"."""
    stop = _END().search(text, start, start + _CLAUSE)
    end = stop.start() if stop else start + _CLAUSE
    tokens = _LONG_TOKEN() if kind == "key" else _TOKEN()
    for token in tokens.finditer(text, start, min(len(text), end + _LOOK)):
        if token.start() >= end:
            return
        if kind != "key" and _DIGIT_OR_SIGN().search(token[0]) is None:
            continue
        value = token[0].strip("/=.~+-").rstrip("!")
        first = token.start() + token[0].index(value)
        before = text[max(start - 1, first - _BEFORE) : first]
        if not _GLUED().search(before) and _is_value(kind, value, before):
            is_longer = token.end() - token.start() == _LOOK
            yield first, end_of_run(text, token.end()) if is_longer else token.end()


def _is_value(kind: str, value: str, before: str) -> bool:
    """Whether a token is a key or a password; `before` is what stands before it."""
    if kind == "key":
        return looks_random(value) and not _NAMED_OTHERWISE().search(before)
    if _DIGIT_OR_SIGN().search(value) is None or "/" in value:
        return False
    return looks_made_up(value) or _is_told(value, before)


def _is_told(value: str, before: str) -> bool:
    """Whether a sign or verb before a token tells a name with digits, or a long number."""
    if _TELLS().search(before) is None or is_no_secret(value) or not has_digit(value):
        return False
    return len(value) >= 6 and (value.isdigit() or has_letter(value)) and not is_measure(value)


def end_of_run(text: str, start: int) -> int:
    """Where a run of characters that a value may have ends, from inside it."""
    rest = _REST().match(text, start)
    return rest.end() if rest else start
