"""Halves of characters, which JSON can write and no file can hold."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text with two halves as the character they are, and a lone one as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
