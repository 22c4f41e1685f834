"""A secret in a text, before it has a mark."""

from __future__ import annotations

from typing import NamedTuple


class Secret(NamedTuple):
    """A secret: what it is, and where it stands in the text (`text[start:end]`)."""

    kind: str
    start: int
    end: int
