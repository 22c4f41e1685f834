"""Patterns that are compiled on first use: the hundred of them in text/ would cost the import 70 ms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression by its source; calling it gives the compiled one."""

    source: str
    flags: int = 0

    def __call__(self) -> re.Pattern[str]:
        """The compiled pattern; an error in its source would show only here, so a test compiles all."""
        return _compiled(self.source, int(self.flags))


@cache  # not the cache of `re`, which forgets: a pattern lives as long as its module
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)
