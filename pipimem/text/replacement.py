"""Stretches of a text replaced by other text."""

from __future__ import annotations

from collections.abc import Iterable


def replaced(text: str, stretches: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `text[start:end]` replaced; they stand in order and do not overlap."""
    pieces: list[str] = []
    reached = 0
    for start, end, new in stretches:
        pieces += (text[reached:start], new)
        reached = end
    return "".join(pieces) + text[reached:]
