"""What a workspace masks beside the known kinds of secrets: phone numbers, its words, patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pipimem.settings import SecretSettings
from pipimem.text.hinted_patterns import hinted
from pipimem.text.secrets.secret import Secret


def places_of_list(text: str, settings: SecretSettings) -> Iterator[Secret]:
    """The places of phone numbers, if they are to be masked, and of the workspace's own list."""
    if settings.phone_numbers:
        for rule in hinted("secrets/phone_numbers"):
            if any(hint in text for hint in rule.hints):
                for match in rule.pattern().finditer(text):
                    yield Secret(rule.kind, *match.span())
    for pattern in _own(settings):
        for match in pattern.finditer(text):
            if match[0]:
                yield Secret("listed", *match.span())


@lru_cache(maxsize=8)  # of the workspaces of a process
def _own(settings: SecretSettings) -> tuple[re.Pattern[str], ...]:
    """The words of a list as one expression, the longest first, and its patterns."""
    words = sorted(filter(str.strip, settings.words), key=len, reverse=True)
    found = [re.compile(one) for one in settings.patterns]
    if words:
        found.append(re.compile("|".join(map(_word, words)), re.IGNORECASE))
    return tuple(found)


def _word(word: str) -> str:
    """An expression for a word; ASCII letters and digits beside it make it a part of another."""
    word = word.strip()
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", word) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]$", word) else ""
    return f"{before}{re.escape(word)}{after}"
