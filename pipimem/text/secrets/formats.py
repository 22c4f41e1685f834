"""Secrets that machines make: told by their own form, or by the command or header before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.text.hinted_patterns import hinted
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.secret import Secret
from pipimem.text.secrets.values import has_digit, is_placeholder

# Nothing shorter is a key by its form alone. Commas and quotes end a run, so that JSON on one line
# is no run of a thousand characters.
_RUN = Pattern(r"[!#-&(-+\--;=?-\[\]-_a-~]{16,}")
_PLAIN_URL_PASSWORDS = frozenset(
    ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "密码")
)
_MAY_HAVE_NO_DIGIT = frozenset(
    (
        "aws-access-key",
        "slack-webhook",
        "hugging-face-token",
        "license-key",
        "private-key",
        "recovery-codes",
        "seed-phrase",
    )
)
# What people choose or encode: neither its length nor its characters tell anything.
_CHOSEN = frozenset(
    ("password", "basic-credentials", "social-security-number", "passport-number", "key")
)
_DIGITS_AND_LETTERS = Pattern(r"[A-Za-z0-9]{8}")
# "bearer authentication-is-required": letters are a key only where cases mix within.
_MIXED_CASE = Pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def by_shape(text: str) -> Iterator[Secret]:
    """The places of secrets that are told by their shape, without a text that they open with."""
    for run in _RUN().finditer(text):
        lowered = run[0].lower()
        for form in hinted("secrets/key_shapes"):
            if _any_of(form.hints, lowered):
                for match in form.pattern().finditer(text, *run.span()):
                    yield from by_format(form.kind, match)


def by_format(kind: str, match: re.Match[str]) -> Iterator[Secret]:
    """The place of what a format or a context matched, if it is a secret."""
    group = "secret" if "secret" in match.re.groupindex else 0
    if _is_secret(kind, match[group]):
        yield Secret(kind, *match.span(group))


def _any_of(hints: tuple[str, ...], lowered: str) -> bool:
    for hint in hints:  # noqa: SIM110 - a generator costs as much as the looks
        if hint in lowered:
            return True
    return False


def _is_secret(kind: str, value: str) -> bool:
    """Whether a match is no placeholder, reference or word ("sk-learn-…", "sk-xxxx…")."""
    if kind == "private-key":
        return True
    if is_placeholder(value):
        return False
    if kind == "url-password":
        return value.lower() not in _PLAIN_URL_PASSWORDS
    if kind in _CHOSEN:
        # "xxx" and "xyxy" stand for a value; 1122 is the code of many a door, 0000 of none yet.
        return len(set(value)) > (1 if value.isdigit() else 2)
    if len(set(value)) < 6:
        return False
    return kind in _MAY_HAVE_NO_DIGIT or _is_random(value)


def _is_random(value: str) -> bool:
    """Whether it has a run that no word with hyphens has: of digits and letters, or mixed cases."""
    if _DIGITS_AND_LETTERS().search(value) is None:
        return False
    return has_digit(value) or len(_MIXED_CASE().findall(value)) > 2
