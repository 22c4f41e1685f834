"""What a check found, and the mending that loses nothing where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

Mend = Callable[[datetime], str]
"""Does it, at this time, and says what was done. Raises `PipimemError` where it cannot."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: `wrong` needs a hand, others are worth knowing. `where` is a file, line or setting."""

    wrong: bool
    where: str
    what: str
    mend: Mend | None = None


def wrong(where: object, what: str, mend: Mend | None = None) -> Finding:
    """Something that needs a hand."""
    return Finding(True, str(where), what, mend)


def worth_knowing(where: object, what: str, mend: Mend | None = None) -> Finding:
    """Something that is as it may be."""
    return Finding(False, str(where), what, mend)
