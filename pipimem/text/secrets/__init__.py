"""Secrets in a text, found and replaced by `[secret: <kind>]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipimem.text.patterns import Pattern
from pipimem.text.secrets.key_formats import FORMATS
from pipimem.text.secrets.numbers import LONG, secret_numbers
from pipimem.text.secrets.spoken import HINTS, spoken


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret: what it is, and where it stands in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int


# Soft hyphen, zero-width blanks and joiners, word joiner: one inside "password" and no pattern sees the word.
_INVISIBLE = Pattern("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_MARK = Pattern(r"\[secret: [a-z ]{1,30}\]")
# Text built so that each redaction uncovers another secret is hidden whole at this depth; others need 2.
_DEPTH = 6
# What stands in documentation in the place of a key.
_PLACEHOLDER = Pattern(
    r"x{4}|\*{3}|•{3}|\.{3}|…|example|placeholder|your[_-]|changeme|redacted|<|\$\{|\{\{|\[secret",
    re.IGNORECASE,
)
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)


# Nearly every text has none of them: plain searches for all cost less than one look for a pattern of so many words.
_HINTS = (*(hint for form in FORMATS for hint in form.hints), *HINTS)


def secrets(text: str) -> tuple[Finding, ...]:
    """Every secret in the text, in order, without overlaps; marks of earlier redactions are walls."""
    found: list[Finding] = []
    start = 0
    for mark in _MARK().finditer(text):
        found += _in_piece(text[start : mark.start()], start)
        start = mark.end()
    found += _in_piece(text[start:] if start else text, start)
    return tuple(found)


def redacted(text: str) -> str:
    """The text with each secret replaced by `[secret: <kind>]`; redacting twice changes nothing more.

    A secret that only shows once invisible characters are gone is replaced in the text without them.
    """
    if _INVISIBLE().search(text) and secrets(bare := _INVISIBLE().sub("", text)):
        text = bare
    for _ in range(_DEPTH):
        found = secrets(text)
        if not found:
            return text
        text = _marked(text, found)
    return "".join(
        "[secret: hidden]" if secrets(piece) else piece
        for piece in re.split(f"({_MARK().pattern})", text)
    )


def _marked(text: str, found: Iterable[Finding]) -> str:
    pieces: list[str] = []
    done = 0
    for finding in found:
        pieces += (text[done : finding.start], f"[secret: {finding.kind}]")
        done = finding.end
    return "".join(pieces) + text[done:]


def _in_piece(piece: str, offset: int) -> Iterator[Finding]:
    lowered = piece.lower()
    if not _any_of(_HINTS, lowered) and LONG().search(piece) is None:
        return iter(())
    return _merged(
        (*_keys(piece, lowered), *spoken(piece, lowered), *secret_numbers(piece)), offset
    )


def _any_of(hints: tuple[str, ...], lowered: str) -> bool:
    for hint in hints:  # noqa: SIM110 - a generator costs as much as the looks
        if hint in lowered:
            return True
    return False


def _keys(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    for form in FORMATS:
        if not _any_of(form.hints, lowered):
            continue
        group = "secret" if "secret" in form.pattern().groupindex else 0
        for match in form.pattern().finditer(text):
            if _is_key(form.kind, match[group]):
                yield (form.kind, *match.span(group))


def _is_key(kind: str, value: str) -> bool:
    """Whether a match of a format is a key and no placeholder or ordinary word ("sk-learn-…", "sk-xxxx…")."""
    if kind == "private key":
        return True
    if _PLACEHOLDER().search(value):
        return False
    if kind == "url password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if kind == "aws key" and value.endswith("EXAMPLE"):
        return False
    if len(set(value)) < 6:
        return False
    return kind in ("slack webhook", "hugging face token", "basic credentials") or (
        any(letter.isdigit() for letter in value)
        and re.search(r"[A-Za-z0-9]{8}", value) is not None
    )


def _merged(places: Iterable[tuple[str, int, int]], offset: int) -> Iterator[Finding]:
    """Places in order, those that overlap made one; the earlier and longer gives its kind."""
    kind, start, end = "", -1, -1
    for next_kind, next_start, next_end in sorted(places, key=lambda place: (place[1], -place[2])):
        if next_start < end:
            end = max(end, next_end)
            continue
        if kind:
            yield Finding(kind, start + offset, end + offset)
        kind, start, end = next_kind, next_start, next_end
    if kind:
        yield Finding(kind, start + offset, end + offset)
