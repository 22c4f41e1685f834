"""Patterns that are compiled on first use, and what they find replaced.

The hundred of them in text/ would cost the import 70 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from pipimem import resources


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


@dataclass(frozen=True, slots=True, eq=False)  # each is itself alone: hashing is then cheap
class HintedPattern:
    """A pattern of a kind; to be tried only on texts that hold one of its hints (lower case)."""

    kind: str
    hints: tuple[str, ...]
    pattern: Pattern


@cache  # the files do not change while the package runs
def hinted(name: str, around: str = "{}") -> tuple[HintedPattern, ...]:
    """The lines of `data/<name>.txt`, like `ghp_ gho_  =>  gh[po]_.+`; their heading is the kind.

    In `around`, which is for all patterns of the file, `{}` stands for the pattern. Lines that
    begin with `✓` or `✗` are examples.
    """
    found: list[HintedPattern] = []
    for kind, lines in resources.sections(name).items():
        for line in lines:
            if line.startswith(("✓ ", "✗ ")):
                continue
            hints, _, source = line.partition("  =>  ")
            pattern = Pattern(around.replace("{}", source, 1))
            found.append(HintedPattern(kind, tuple(hints.split()), pattern))
    return tuple(found)


def replaced(text: str, stretches: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `text[start:end]` replaced; they stand in order and do not overlap."""
    pieces: list[str] = []
    reached = 0
    for start, end, new in stretches:
        pieces += (text[reached:start], new)
        reached = end
    return "".join(pieces) + text[reached:]
