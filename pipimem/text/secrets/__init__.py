"""Secrets in a text, found and replaced by `[secret: <kind>]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import chain

from pipimem.text.patterns import HintedPattern, Pattern, hinted, replaced
from pipimem.text.secrets.spoken import OTHER_HINTS, cues, spoken
from pipimem.text.secrets.values import has_digit


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret: what it is, and where it stands in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int


# Soft hyphen, zero-width blanks and joiners, word joiner: one inside "password" and no pattern sees
# the word.
_INVISIBLE = Pattern("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_MARK = Pattern(r"\[secret: [a-z ]{1,30}\]")
# Text built so that each redaction uncovers another secret is hidden whole at this depth; others
# need 2.
_DEPTH = 6
# What stands in documentation in the place of a key.
_PLACEHOLDER = Pattern(
    r"x{4}|\*{3}|•{3}|\.{3}|…|example|placeholder|your[_-]|changeme|redacted|<|\$\{|\{\{|\[secret",
    re.IGNORECASE,
)
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)
_MAY_HAVE_NO_DIGIT = frozenset(("slack webhook", "hugging face token", "basic credentials"))


def secrets(text: str) -> tuple[Secret, ...]:
    """Every secret in the text, in order, without overlaps.

    Marks of earlier redactions are walls.
    """
    found: list[Secret] = []
    start = 0
    for mark in _MARK().finditer(text):
        found += _in_piece(text[start : mark.start()], start)
        start = mark.end()
    found += _in_piece(text[start:] if start else text, start)
    return tuple(found)


def redacted(text: str) -> str:
    """The text with each secret replaced by `[secret: <kind>]`.

    Redacting twice changes nothing more. A secret that only shows once invisible characters are
    gone is replaced in the text without them.
    """
    bare = _INVISIBLE().sub("", text)
    if bare != text and secrets(bare):
        text = bare
    for _ in range(_DEPTH):
        found = secrets(text)
        if not found:
            return text
        text = _marked(text, found)
    return "".join(map(_hidden, re.split(f"({_MARK().pattern})", text)))


def _hidden(piece: str) -> str:
    return "[secret: hidden]" if secrets(piece) else piece


def _marked(text: str, found: Iterable[Secret]) -> str:
    return replaced(text, ((one.start, one.end, f"[secret: {one.kind}]") for one in found))


def _in_piece(piece: str, offset: int) -> list[Secret]:
    lowered = piece.lower()
    if not _any_of(_hints(), lowered) and LONG().search(piece) is None:
        return []
    return _merged(
        (*_keys(piece, lowered), *spoken(piece, lowered), *secret_numbers(piece)), offset
    )


@cache
def _hints() -> tuple[str, ...]:
    """All words that hint at a secret; nearly every text has none of them.

    Plain searches for all cost less than one search for a pattern of so many words.
    """
    all_hints = [
        *(form.hints for form in hinted("secrets/key_formats")),
        *(cue.hints for cue in cues()),
        OTHER_HINTS,
    ]
    return tuple(chain.from_iterable(all_hints))


def _any_of(hints: tuple[str, ...], lowered: str) -> bool:
    for hint in hints:  # noqa: SIM110 - a generator costs as much as the looks
        if hint in lowered:
            return True
    return False


def _keys(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    for form in hinted("secrets/key_formats"):
        if _any_of(form.hints, lowered):
            yield from _keys_of(form, text)


def _keys_of(form: HintedPattern, text: str) -> Iterator[tuple[str, int, int]]:
    group = "secret" if "secret" in form.pattern().groupindex else 0
    for match in form.pattern().finditer(text):
        if _is_key(form.kind, match[group]):
            yield (form.kind, *match.span(group))


def _is_key(kind: str, value: str) -> bool:
    """Whether a match of a format is no placeholder or word ("sk-learn-…", "sk-xxxx…")."""
    if kind == "private key":
        return True
    if _PLACEHOLDER().search(value):  # also the "EXAMPLE" of AWS
        return False
    if kind == "url password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if len(set(value)) < 6:
        return False
    return kind in _MAY_HAVE_NO_DIGIT or _is_random(value)


def _is_random(value: str) -> bool:
    """Whether there is a digit, and a run of letters and digits that no word with hyphens has."""
    return has_digit(value) and re.search(r"[A-Za-z0-9]{8}", value) is not None


def _merged(places: Iterable[tuple[str, int, int]], offset: int) -> list[Secret]:
    """Places in order, those that overlap made one; the earlier and longer gives its kind."""
    merged: list[Secret] = []
    for kind, start, end in sorted(places, key=lambda place: (place[1], -place[2])):
        if merged and start + offset < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(end + offset, merged[-1].end))
        else:
            merged.append(Secret(kind, start + offset, end + offset))
    return merged


_LONG_NUMBER = Pattern(r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w]|[ -]?\d|\.\d)", re.ASCII)
_IDENTITY = Pattern(r"(?<![A-Za-z0-9])\d{17}[\dXx](?![A-Za-z0-9])")
_CARD_ISSUER = Pattern(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
_OTHER_NUMBER = Pattern(
    r"(?:单号|订单|快递|运单|编号|流水|工单|order|tracking|invoice|ticket|\bid|message|msg|isbn|imei)\W{0,6}$",
    re.IGNORECASE,
)


LONG = Pattern(r"\d(?:[ -]?\d){12}")
"""What every one of them has in it."""


def secret_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """The places of card and identity numbers, known by their check sums: kind, start, end."""
    yield from _identity_numbers(text)
    for match in _LONG_NUMBER().finditer(text):
        digits = re.sub(r"\D", "", match[0])
        before = text[max(0, match.start() - 16) : match.start()]
        if _is_card(digits) and not _OTHER_NUMBER().search(before):
            yield ("card number", *match.span())


def _identity_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _IDENTITY().finditer(text):
        if _is_identity(match[0], text[max(0, match.start() - 12) : match.end() + 6]):
            yield ("identity number", *match.span())


def _is_card(digits: str) -> bool:
    return _CARD_ISSUER().fullmatch(digits) is not None and _luhn(digits)


def _is_identity(number: str, around: str) -> bool:
    """A Chinese identity number.

    A birth date inside and the check digit of GB 11643 (or called one).
    """
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    if not 1900 <= born.year <= 2100:
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], weights, strict=True))
    return "10X98765432"[total % 11] == number[17].upper() or "身份证" in around


def _luhn(digits: str) -> bool:
    """The check sum of card numbers (ISO/IEC 7812-1)."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(two // 10 + two % 10 for two in doubled)
    return total % 10 == 0 and len(set(digits)) > 1
