"""Patterns kept as text, searched without regard to case and compiled when they are first asked for."""

from __future__ import annotations

import re
from functools import cache


def found(pattern: str, text: str) -> re.Match[str] | None:
    """The first place in a text where a pattern fits."""
    return _compiled(pattern).search(text)


def without(pattern: str, text: str, instead: str = " ") -> str:
    """The text with something else, a space, for whatever a pattern fits."""
    return _compiled(pattern).sub(instead, text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
