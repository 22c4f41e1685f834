"""The result of a check, with a function that mends it where that loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

Mend = Callable[[datetime], str]
"""Mends it at this time and returns what was done. Raises `PipimemError` where it cannot."""


class Finding(Struct, frozen=True):
    """What a check found; `wrong` needs action. `where` is a file, a line of one, or a setting.

    `kind` and `count` are those of secrets, empty for other findings.
    """

    wrong: bool
    where: str
    what: str
    mend: Mend | None = None
    kind: str = ""
    count: int = 0


def wrong(where: object, what: str, mend: Mend | None = None) -> Finding:
    """A finding that needs action."""
    return Finding(True, str(where), what, mend)


def worth_knowing(where: object, what: str, mend: Mend | None = None) -> Finding:
    """A finding that needs no action."""
    return Finding(False, str(where), what, mend)
