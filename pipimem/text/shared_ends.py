"""How far two texts, or two rows of anything, are the same: from their beginnings and from their ends."""

from __future__ import annotations

from collections.abc import Sequence

# Compared in pieces of so many characters, then the piece that differs in smaller ones, at last one by one.
_PIECES = (8192, 256, 16, 1)


def shared_ends(a: Sequence[object], b: Sequence[object]) -> tuple[int, int]:
    """How many things both begin and end with; the change lies between. Both of one kind of row."""
    head = _shared_head(a, b)
    return head, _shared_head(a[head:][::-1], b[head:][::-1])


def _shared_head(a: Sequence[object], b: Sequence[object]) -> int:
    most, place = min(len(a), len(b)), 0
    for piece in _PIECES:
        while place + piece <= most and a[place : place + piece] == b[place : place + piece]:
            place += piece
    return place
