"""What a rule for dates is: a pattern, the words that hint at it, and what a match of it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from pipimem.text.dates.spans import Span
from pipimem.text.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Meant:
    """What a phrase means: the days, the absolute phrase, and the preposition it needs where none stands."""

    span: Span
    phrase: str | None = None
    preposition: str = ""


Reader = Callable[[re.Match[str], date], Meant | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means; to be tried only on a text that holds one of the hints (lower case)."""

    hints: frozenset[str]
    pattern: Pattern
    reader: Reader


class Rules:
    """Rules in their order: longer readings first."""

    def __init__(self, *rules: Rule) -> None:
        self._rules = rules
        # Nearly every text has few of them: looked for once, not once for each rule.
        self._hints = frozenset(hint for rule in rules for hint in rule.hints)

    def read(self, text: str, lowered: str, when: date) -> Iterator[tuple[re.Match[str], Meant]]:
        """Each match with its meaning, by rule; what lies outside of the calendar (31 February) is left out."""
        present = {hint for hint in self._hints if hint in lowered}
        for rule in self._rules:
            if rule.hints.isdisjoint(present):
                continue
            for match in rule.pattern().finditer(text):
                try:
                    meant = rule.reader(match, when)
                except (ValueError, OverflowError):
                    continue
                if meant:
                    yield match, meant
