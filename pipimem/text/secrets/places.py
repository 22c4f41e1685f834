"""A place in a text where a secret stands, before it has a mark."""

from __future__ import annotations

from typing import NamedTuple


class SecretPlace(NamedTuple):
    """A stretch `text[start:end]`, and the kind of secret that it is."""

    kind: str
    start: int
    end: int
