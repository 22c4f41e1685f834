"""Halves of characters, which JSON can write and no file can hold."""

from __future__ import annotations

import json


def storable(text: str) -> str:
    """The text with two halves as the character they are, and a lone one as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable_json(data: bytes) -> str:
    """The same JSON without halves of characters: models cut emoji in half.

    Raises `ValueError` for what is no JSON, `RecursionError` where it is too deep.
    """
    return storable(json.dumps(json.loads(data), ensure_ascii=False))
