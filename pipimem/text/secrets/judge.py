"""Judge whether a value is a secret, or a placeholder, a reference, a measure or a word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from pipimem import resources

_LEAST_CHARACTERS = 6  # different ones in a key
_RUN_OF_KEY = re.compile(r"[A-Za-z0-9]{8}")
_LONGER_THAN_WORDS = re.compile(r"[A-Z0-9]{20}|[A-Za-z0-9]{24}")
_MIXED_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


class _Values(Struct, frozen=True):
    """The values that a word announces: anywhere in its clause, and at the end of it."""

    anywhere: re.Pattern[str]
    last: re.Pattern[str]


def is_announced(kind: str, tie: str, value: str, *, is_last: bool) -> bool:
    """Return whether a word of a kind announces a value that is tied to it so."""
    values = _values().get(f"{kind}: {tie}")
    if values is None:
        return False
    return values.anywhere.fullmatch(value) is not None or (
        is_last and values.last.fullmatch(value) is not None
    )


@cache
def _values() -> dict[str, _Values]:
    sections = resources.sections("secrets/values")
    parts: dict[str, str] = {}
    for line in sections["parts"]:
        name, _, source = line.partition(" = ")
        parts[name] = f"(?:{_filled(source, parts)})"
    return {
        heading: _Values(
            _any_of(_filled(line, parts) for line in lines if not line.startswith("last ")),
            _any_of(_filled(line[5:], parts) for line in lines if line.startswith("last ")),
        )
        for heading, lines in sections.items()
        if heading != "parts"
    }


def _filled(source: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{([a-z]\w+)\}", lambda part: parts[part[1]], source)


def _any_of(sources: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{source})" for source in sources) or r"(?!)", flags | re.DOTALL)


@cache
def _no_secrets(heading: str, flags: int = 0) -> re.Pattern[str]:
    return _any_of(resources.sections("secrets/no_secrets")[heading], flags)


@cache
def _words() -> frozenset[str]:
    return frozenset(resources.sections("secrets/no_secrets")["words"])


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret ("<token>", "xxxx") or says where it is."""
    return (
        _no_secrets("references").fullmatch(value) is not None
        or _no_secrets("pieces", re.IGNORECASE).search(value) is not None
    )


def is_no_secret(value: str) -> bool:
    """Return whether a value is a known word, a placeholder, a date, a measure or an address."""
    return (
        value.lower() in _words()
        or _no_secrets("shapes", re.IGNORECASE).fullmatch(value) is not None
        or is_placeholder(value)
    )


def is_mere_word(token: str) -> bool:
    """Return whether a token is a word as most are, which is a secret only where it is told."""
    word = token.rstrip(".:?")
    return (word.isalpha() and (word.islower() or len(word) < 8)) or word.lower() in _words()


def is_counted(value: str, following: str) -> bool:
    """Return whether the text behind a number makes it a measure ("90 days") or a method."""
    if not value.replace("-", "").isdigit():
        return False
    return _no_secrets("units", re.IGNORECASE).match(following.lstrip(" ")) is not None


def is_random(value: str) -> bool:
    """Return whether a value has a run of digits and letters, or of letters no word is made of."""
    if len(set(value)) < _LEAST_CHARACTERS or _RUN_OF_KEY.search(value) is None:
        return False
    is_mixed = any(map(str.isdigit, value)) or len(_MIXED_CASE.findall(value)) > 2
    return is_mixed or _LONGER_THAN_WORDS.search(value) is not None


def form(value: str) -> str:
    """Return a value with digits as 0 and letters as a: "Pear.2" and "Apple.1" are alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[\d ]+", "0", value))
