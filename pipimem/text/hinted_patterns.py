"""Patterns in files of `data/`, each with the hints where it may match."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pipimem import resources
from pipimem.text.patterns import Pattern


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
