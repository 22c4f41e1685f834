"""How far two texts, or two rows of anything, are the same: from their beginnings and from their ends."""

from __future__ import annotations

from collections.abc import Sequence

# Compared in pieces of so many characters, then the piece that differs in smaller ones, at last one by one.
_PIECES = (8192, 256, 16, 1)


def _shared_head(a: Sequence[object], b: Sequence[object], most: int) -> int:
    """How many characters or things, up to `most`, both begin with."""
    place = 0
    for piece in _PIECES:
        while place + piece <= most and a[place : place + piece] == b[place : place + piece]:
            place += piece
    return place


def _shared_tail(a: Sequence[object], b: Sequence[object], most: int) -> int:
    """How many characters or things, up to `most`, both end with."""
    end_a, end_b = len(a), len(b)
    place = 0
    for piece in _PIECES:
        while (
            place + piece <= most
            and a[end_a - place - piece : end_a - place] == b[end_b - place - piece : end_b - place]
        ):
            place += piece
    return place


def shared_ends(a: Sequence[object], b: Sequence[object]) -> tuple[int, int]:
    """How many things both begin and end with; the change lies between. Both of one kind of row."""
    shortest = min(len(a), len(b))
    head = _shared_head(a, b, shortest)
    return head, _shared_tail(a, b, shortest - head)
