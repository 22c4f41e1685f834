"""A change to a text as the lines it touches, found as patience diff finds it.

Texts are compared between lines that stand once in each; what lies between two such anchors is
compared line by line only where that is cheap. The cost is known before it is paid, so that no
text, however it repeats itself, takes longer than n log n.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from pipimem.text.markdown.lines import split_lines

# Looks of difflib at lines, for two texts: half a second at the very worst. Beyond it a stretch
# without anchors counts as replaced whole.
MOST_LOOKS = 10_000_000
# Of anchors between anchors. Texts of people need two or three.
_DEEPEST = 8
# Compared in pieces of so many characters, then the piece that differs in smaller ones, at last one
# by one.
_PIECES = (8192, 1024, 128, 16, 4, 1)

_Row = tuple[int, int, "_Row | None"]


class ChangedLines(Struct, frozen=True):
    """The lines `[low, high)` of one text, and `[start, end)` of the other."""

    low: int
    high: int
    start: int
    end: int


def changed_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[ChangedLines]:
    """Where the lines of two texts differ, in order; the lines between are the same in both."""
    low = start = 0
    for place, other, length in (
        *_Comparison().same(before, after, 0, 0),
        (len(before), len(after), 0),
    ):
        if place > low or other > start:
            yield ChangedLines(low, place, start, other)
        low, start = place + length, other + length


class _Comparison(Struct):
    """How many looks are left for what lies between anchors."""

    looks: int = MOST_LOOKS

    def same(
        self, old: Sequence[str], new: Sequence[str], low: int, start: int, depth: int = 0
    ) -> Iterator[tuple[int, int, int]]:
        """Runs of equal lines, in order: the line of one text, that of the other, how many.

        Counted from `low`, `start`.
        """
        head, tail = shared_ends(old, new)
        if head:
            yield low, start, head
        inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
        if inner_old and inner_new:
            for place, other, length in self._between(inner_old, inner_new, depth):
                yield low + head + place, start + head + other, length
        if tail:
            yield low + len(old) - tail, start + len(new) - tail, tail

    def _between(
        self, old: Sequence[str], new: Sequence[str], depth: int
    ) -> Iterator[tuple[int, int, int]]:
        anchors = _anchors(old, new) if depth < _DEEPEST else []
        if not anchors:
            yield from self._line_by_line(old, new)
            return
        low = start = 0
        for place, other in (*anchors, (len(old), len(new))):
            yield from self.same(old[low:place], new[start:other], low, start, depth + 1)
            if place < len(old):
                yield place, other, 1
            low, start = place + 1, other + 1

    def _line_by_line(
        self, old: Sequence[str], new: Sequence[str]
    ) -> Iterator[tuple[int, int, int]]:
        looks = most_looks(old, new)
        if not looks or looks > self.looks:
            return
        self.looks -= looks
        for found in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            if found.size:
                yield found.a, found.b, found.size


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
    """The places of lines that stand once in either: the most of them that keep one order."""
    once, again = _places_of_unique(old), _places_of_unique(new)
    # Patience sorting: by the place it ends at, the shortest row of each length, linked backwards.
    ends: list[int] = []
    rows: list[_Row] = []
    for line, place in once.items():
        if line not in again:
            continue
        other = again[line]
        length = bisect_left(ends, other)
        before = rows[length - 1] if length else None
        ends[length : length + 1] = [other]
        rows[length : length + 1] = [(place, other, before)]
    found: list[tuple[int, int]] = []
    row = rows[-1] if rows else None
    while row:
        place, other, row = row
        found.append((place, other))
    return found[::-1]


def _places_of_unique(lines: Sequence[str]) -> dict[str, int]:
    """Line → place, in order, of the lines that stand there once."""
    count = Counter(lines)
    return {line: place for place, line in enumerate(lines) if count[line] == 1}


def shared_ends(a: Sequence[object], b: Sequence[object]) -> tuple[int, int]:
    """How many things both begin and end with; the change lies between. Both of one kind of row."""
    most = min(len(a), len(b))
    head = 0
    for piece in _PIECES:
        while head + piece <= most and a[head : head + piece] == b[head : head + piece]:
            head += piece
    tail, most = 0, most - head
    for piece in _PIECES:
        while tail + piece <= most and _tail(a, tail, piece) == _tail(b, tail, piece):
            tail += piece
    return head, tail


def _tail(row: Sequence[object], behind: int, size: int) -> Sequence[object]:
    """The last `size` things but for `behind` of them."""
    end = len(row) - behind
    return row[end - size : end]


class Splice(NamedTuple):
    """The lines `removed`, which begin at line `start` of the old text, become the lines `added`.

    Lines have their endings. The splices of one change stand in order and do not overlap.
    """

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


def splices_between(old: str, new: str) -> tuple[Splice, ...]:
    """What to change to make `new` of `old`; nothing if they are equal.

    Few lines, not always the fewest.
    """
    before, after = split_lines(old), split_lines(new)
    return tuple(
        Splice(each.low, before[each.low : each.high], after[each.start : each.end])
        for each in changed_lines(before, after)
    )


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """`text` after the change.

    ValueError where a line to be removed does not stand where it should.
    """
    return "".join(spliced_lines(split_lines(text), splices))


def spliced_lines(lines: tuple[str, ...], splices: Iterable[Splice]) -> tuple[str, ...]:
    """The lines of a text after the change; raises ValueError as `spliced` does."""
    result: list[str] = []
    reached = 0
    for splice in splices:
        end = splice.start + len(splice.removed)
        if not reached <= splice.start <= len(lines) or lines[splice.start : end] != splice.removed:
            raise ValueError(
                f"line {splice.start + 1} is not what the change expects; make a new one"
            )
        result += [*lines[reached : splice.start], *splice.added]
        reached = end
    return (*result, *lines[reached:])


def reversed_splices(splices: Iterable[Splice]) -> tuple[Splice, ...]:
    """The change that takes the change back: its positions are lines of the new text."""
    undo, moved = [], 0
    for splice in splices:
        undo.append(Splice(splice.start + moved, splice.added, splice.removed))
        moved += len(splice.added) - len(splice.removed)
    return tuple(undo)
