"""Patterns compiled on first use, and stretches of a text replaced by others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression by its source; calling it gives the compiled one."""

    source: str
    flags: int = 0
    # The compiled one: hashing the source again would cost more than most matches.
    _kept: list[re.Pattern[str]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def __call__(self) -> re.Pattern[str]:
        """The compiled pattern.

        An error in its source would show only here, so a test compiles all.
        """
        if not self._kept:
            self._kept.append(_compiled(self.source, int(self.flags)))
        return self._kept[0]


@cache  # not the cache of `re`, which forgets: a pattern lives as long as its module
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


def replaced(text: str, stretches: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `text[start:end]` replaced; they stand in order and do not overlap."""
    pieces: list[str] = []
    reached = 0
    for start, end, new in stretches:
        pieces += (text[reached:start], new)
        reached = end
    return "".join(pieces) + text[reached:]
