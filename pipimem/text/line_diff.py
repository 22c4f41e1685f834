"""Which lines of two texts are the same: between lines that stand once in each, as patience diff.

What lies between two such anchors is compared line by line only where that is cheap. Its cost is
known before it is paid, so that no text, however it repeats itself, takes longer than n log n.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipimem.text.shared_ends import shared_ends

# Looks of difflib at lines, for two texts: half a second at the very worst. Beyond it a stretch without
# anchors counts as replaced whole.
MOST_LOOKS = 10_000_000
# Of anchors between anchors. Texts of people need two or three.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Stretch:
    """The lines `[low, high)` of one text, and `[start, end)` of the other."""

    low: int
    high: int
    start: int
    end: int


def changed_stretches(before: Sequence[str], after: Sequence[str]) -> Iterator[Stretch]:
    """Where the lines of two texts differ, in order; the lines between are the same in both."""
    comparison = _Comparison(before, after)
    low = start = 0
    whole = Stretch(0, len(before), 0, len(after))
    for place, other, length in (*comparison.same(whole), (len(before), len(after), 0)):
        if place > low or other > start:
            yield Stretch(low, place, start, other)
        low, start = place + length, other + length


@dataclass(slots=True)
class _Comparison:
    """Two texts, and how many looks are left for what lies between anchors."""

    before: Sequence[str]
    after: Sequence[str]
    looks: int = MOST_LOOKS

    def same(self, within: Stretch, depth: int = 0) -> Iterator[tuple[int, int, int]]:
        """Runs of equal lines, in order: the line of one text, that of the other, how many."""
        old, new = self._lines(within)
        head, tail = shared_ends(old, new)
        if head:
            yield within.low, within.start, head
        high, end = within.high - tail, within.end - tail
        inner = Stretch(within.low + head, high, within.start + head, end)
        if inner.low < high and inner.start < end:
            yield from self._between(inner, depth)
        if tail:
            yield high, end, tail

    def _lines(self, within: Stretch) -> tuple[Sequence[str], Sequence[str]]:
        return self.before[within.low : within.high], self.after[within.start : within.end]

    def _between(self, within: Stretch, depth: int) -> Iterator[tuple[int, int, int]]:
        old, new = self._lines(within)
        anchors = _anchors(old, new) if depth < _DEEPEST else []
        if not anchors:
            yield from self._line_by_line(within)
            return
        low, start = within.low, within.start
        for place, other in anchors:
            at, there = within.low + place, within.start + other
            yield from self.same(Stretch(low, at, start, there), depth + 1)
            yield at, there, 1
            low, start = at + 1, there + 1
        yield from self.same(Stretch(low, within.high, start, within.end), depth + 1)

    def _line_by_line(self, within: Stretch) -> Iterator[tuple[int, int, int]]:
        old, new = self._lines(within)
        looks = most_looks(old, new)
        if not looks or looks > self.looks:
            return
        self.looks -= looks
        from difflib import SequenceMatcher  # 6 ms to import, and most changes are one run of lines

        for found in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            if found.size:
                yield within.low + found.a, within.start + found.b, found.size


def most_looks(old: Sequence[str], new: Sequence[str]) -> int:
    """What difflib may cost: pairs of equal lines, seen again for each run of them that it finds.

    0 where no line is in both.
    """
    once, again = Counter(old), Counter(new)
    shared = once.keys() & again.keys()
    pairs = sum(once[line] * again[line] for line in shared)
    runs = min(sum(once[line] for line in shared), sum(again[line] for line in shared))
    return (len(old) + pairs) * 2 * runs


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that stand once in either, as far as they are in the same order: the most of them."""
    once, again = _places_of_unique(old), _places_of_unique(new)
    # Patience sorting: by the place it ends at, the shortest way to each length of a row.
    ends: list[int] = []
    rows: list[tuple[int, int, int]] = []
    last: list[int] = []
    for line, place in once.items():
        other = again.get(line)
        if other is None:
            continue
        length = bisect_left(ends, other)
        previous = last[length - 1] if length else -1
        ends[length : length + 1] = [other]
        last[length : length + 1] = [len(rows)]
        rows.append((place, other, previous))
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        place, other, at = rows[at]
        found.append((place, other))
    return found[::-1]


def _places_of_unique(lines: Sequence[str]) -> dict[str, int]:
    """Line → place, in order, of the lines that stand there once."""
    count = Counter(lines)
    return {line: place for place, line in enumerate(lines) if count[line] == 1}
