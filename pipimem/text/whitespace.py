"""White space folded: a text on one line, its words one blank apart."""

from __future__ import annotations


def white_folded(text: str) -> str:
    """The text with every run of white space as one blank, and none at its ends."""
    return " ".join(text.split())
