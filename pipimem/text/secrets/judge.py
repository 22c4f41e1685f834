"""Judge whether a token is a secret, a placeholder, a reference, a measure or a word."""

from __future__ import annotations

import re
from functools import cache

from pipimem import resources
from pipimem.text.patterns import Pattern

_HERE = Pattern(r"[_-]here\b", re.IGNORECASE)
_DIGITS_AND_LETTERS = Pattern(r"[A-Za-z0-9]{8}")
_NO_WORD = Pattern(r"[A-Za-z0-9]{20}")  # longer than words of talk are
# "bearer authentication-is-required": letters are a key only where cases mix within.
_MIXED_CASE = Pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_INNER_SIGN = Pattern(r"[^\W_][!@#$%^&*+=~][^\W_]|[^\W\d_]{2,}[!#$%^&*]$")
_CASE_PARTS = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# web-2, us-east-1, OAuth2, zhang.wei: words, and two digits behind them at most.
_NAME = Pattern(r"@?\d?[A-Za-z]+(?:[-_.'+/][A-Za-z]+)*[-_.]?\d{0,2}")
# x86_64, k8s-prod-2, v2.1-rc3: short parts.
_IDENTIFIER = Pattern(
    r"(?:[A-Za-z]{1,12}\d{0,2}|\d{1,3})(?:[-_.](?:[A-Za-z]{1,12}\d{0,2}|\d{1,4}))+"
)
_VARIED = Pattern(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])")
_UUID = Pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_VAULT_PATH = Pattern(r"[a-z][a-z-]*(?:[/:][a-z0-9._-]+)+")
_CODE = Pattern(
    r"[#*]?\d{2,10}[#*]?|[^\W\d_]{1,2}-?\d{3,10}[^\W\d_]?[#*]?|\d[^\W_]{2,9}[#*]?"
    r"|\d{1,3}(?:[-.]\d{1,3}){1,2}-?\d{0,6}|\d{1,3}#\d{3,8}"
    r"|[A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6}){1,9}|(?=[A-Za-z]*\d)[A-Za-z0-9]{4,8}"
)
_LEAST_PASSWORD, _LEAST_KEY = 3, 8


@cache
def _whole(heading: str, flags: int = 0) -> re.Pattern[str]:
    lines = resources.sections("secrets/no_secrets")[heading]
    return re.compile("|".join(f"(?:{line})" for line in lines), flags | re.DOTALL)


@cache
def _words() -> frozenset[str]:
    return frozenset(resources.sections("secrets/no_secrets")["words"])


@cache
def _pieces() -> tuple[str, ...]:
    return resources.sections("secrets/no_secrets")["pieces"]


def is_known_word(word: str) -> bool:
    """Return whether a word is said of secrets and is none."""
    return word.lower() in _words()


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret ("<token>", "xxxx") or says where it is."""
    if _whole("references").fullmatch(value) is not None:
        return True
    lowered = value.lower()
    for piece in _pieces():  # noqa: SIM110 - a generator costs as much as the looks
        if piece in lowered:
            return True
    return "here" in lowered and _HERE().search(value) is not None


def is_no_secret(value: str) -> bool:
    """Return whether a value is a known word, a placeholder, a date, a measure or an address."""
    return (
        value.lower() in _words()
        or _whole("shapes", re.IGNORECASE).fullmatch(value) is not None
        or is_placeholder(value)
        or _is_repeated(value)
    )


def is_counted(following: str) -> bool:
    """Return whether the text behind a number makes it a measure ("90 days") or a method."""
    return _whole("units", re.IGNORECASE).match(following.lstrip(" ")) is not None


def _is_repeated(value: str) -> bool:
    """Return whether a value is a letter or sign again and again; the same digit may be a code."""
    return len(value) >= 6 and not value.isdigit() and len(set(value.lower())) == 1


def is_random(value: str) -> bool:
    """Return whether a value has a run of digits and letters, or of letters no word is made of."""
    if len(set(value)) < 6 or _DIGITS_AND_LETTERS().search(value) is None:
        return False
    return has_digit(value) or len(_MIXED_CASE().findall(value)) > 2


def has_no_word(value: str) -> bool:
    """Return whether a run of letters and digits is longer than a word of talk."""
    return len(set(value)) > 5 and _NO_WORD().search(value) is not None


def is_made_up(value: str) -> bool:
    """Return whether a token of a sentence is no word, name, number, date or address.

    It has letters, and digits or signs among them.
    """
    if not 5 <= len(value) <= 128 or not has_letter(value) or is_no_secret(value):
        return False
    if is_typed_blindly(value):
        return True
    if not has_digit(value):
        return _INNER_SIGN().search(value) is not None
    return not (_NAME().fullmatch(value) or _IDENTIFIER().fullmatch(value) or is_uuid(value))


def is_varied(value: str) -> bool:
    """Return whether a value mixes small and capital letters and digits, as no name does."""
    return len(value) >= 8 and _VARIED().match(value) is not None and not is_no_secret(value)


def shape(value: str) -> str:
    """Return a value with runs of digits as 0 and of letters as a: "Pear.2" and "Apple.1" are alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", value))


def is_typed_blindly(word: str) -> bool:
    """Return whether letters change their case as in no name: "GdCUZudx", not "getUserById"."""
    parts = _CASE_PARTS().findall(word)
    short = sum(len(part) <= 2 for part in parts)
    return len(word) >= 8 and len(parts) > 2 and short * 4 >= len(parts)


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID: a key only where one is announced right before it."""
    return _UUID().fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Return whether a value may be a code or PIN: digits, alone or with a letter or sign."""
    return _CODE().fullmatch(value) is not None and not is_no_secret(value)


def is_key(value: str) -> bool:
    """Return whether a value may be a key: long, with digits and letters."""
    if len(value) < _LEAST_KEY or not (has_digit(value) and has_letter(value)):
        return False
    return not is_no_secret(value) and _VAULT_PATH().fullmatch(value) is None


def is_password(value: str) -> bool:
    """Return whether a token with a digit or a sign may be a password."""
    if len(value) < _LEAST_PASSWORD or is_no_secret(value):
        return False
    return has_digit(value) or not value.isalpha()


def is_plain_password(word: str) -> bool:
    """Return whether a plain word may be a password: nothing that is said of passwords."""
    if len(word) <= _LEAST_PASSWORD or is_no_secret(word):
        return False
    return _whole("of passwords", re.IGNORECASE).fullmatch(word) is None


def has_digit(value: str) -> bool:
    """Return whether there is a digit in a value."""
    return any(map(str.isdigit, value))


def has_letter(value: str) -> bool:
    """Return whether there is a letter in a value."""
    return any(map(str.isalpha, value))
