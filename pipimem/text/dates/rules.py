"""Rules for dates.

A pattern, the words that hint at it, and the function that tells what a match of it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pipimem.text.characters import HAN
from pipimem.text.dates.bounds import Span
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import hinted


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a phrase means: the days, the absolute phrase, its preposition.

    `span` is None for days that no calendar has, `phrase` for what is absolute already.
    """

    span: Span | None
    phrase: str | None = None
    preposition: str = ""
    """What the absolute phrase needs in front where no preposition stands."""


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text: `text[start:end]`, the days meant, what to write instead.

    `span` is None for days that no calendar has, `said` for what is absolute already.
    """

    start: int
    end: int
    span: Span | None
    said: str | None = None


Reader = Callable[[re.Match[str], date], Meaning | None]
# Characters to either side: few sentences are longer, and a line of a megabyte costs no more.
_FARTHEST = 300
_PART = re.compile(r"\$\{([A-Z_]+)\}")


class Rules:
    """The rules of `data/dates/<name>.txt` in their order, each with the function that reads it."""

    def __init__(self, name: str, readers: Mapping[str, Reader]) -> None:
        self._rules: list[tuple[frozenset[str], Pattern, Reader]] = []
        parts = {"HAN": HAN, "LEFT": "", "RIGHT": ""}
        for each in hinted(f"dates/{name}"):
            source = _PART.sub(lambda part: parts[part[1]], each.pattern.source)
            if each.kind == "parts":
                parts[each.hints[0]] = source
                continue
            hints = frozenset(hint.replace("_", " ") for hint in each.hints)
            pattern = Pattern(f"{parts['LEFT']}{source}{parts['RIGHT']}", re.IGNORECASE)
            self._rules.append((hints, pattern, readers[each.kind.partition(":")[0]]))
        # Nearly every text has few of them: looked for once, not once for each rule.
        self._hints = frozenset().union(*(hints for hints, _, _ in self._rules))

    def read(self, text: str, lowered: str, when: date) -> Iterator[tuple[re.Match[str], Meaning]]:
        """Each match with its meaning, rule by rule; a match may mean no days at all (31 February).

        It is given all the same: shorter rules must not read a part of it.
        """
        for pattern, reader in self._hinted(lowered):
            for match in pattern().finditer(text):
                meant = _meaning(reader, match, when)
                if meant:
                    yield match, meant

    def _hinted(self, lowered: str) -> Iterator[tuple[Pattern, Reader]]:
        present = {hint for hint in self._hints if hint in lowered}
        for hints, pattern, reader in self._rules:
            if not hints.isdisjoint(present):
                yield pattern, reader


def sentence_around(
    match: re.Match[str], ends_before: re.Pattern[str], ends_after: re.Pattern[str]
) -> str | None:
    """The sentence in which a date stands; None where it begins or ends too far away.

    The words at a fixed distance would be others once a date beside them is written out, and
    a text that is dated twice would change twice.
    """
    text, start, end = match.string, match.start(), match.end()
    before = text[max(0, start - _FARTHEST) : start]
    after = text[end : end + _FARTHEST]
    parts = ends_before.split(before)
    begins = len(parts) > 1 or start <= _FARTHEST
    closing = ends_after.search(after)
    if not begins or (closing is None and end + _FARTHEST < len(text)):
        return None
    return parts[-1] + match[0] + (after[: closing.start()] if closing else after)


def _meaning(reader: Reader, match: re.Match[str], when: date) -> Meaning | None:
    try:
        return reader(match, when)
    except (ValueError, OverflowError):
        return Meaning(None)
