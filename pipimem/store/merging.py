"""Two texts that grew out of one, brought together: both sides' words stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipimem.text.lines import split_lines
from pipimem.text.splices import Splice, splices_between


def merged(base: str, ours: str, theirs: str) -> str:
    """`theirs` with what `ours` changed since `base`.

    Where both changed the same lines, theirs stay and ours follow them; a line both added stands once.
    """
    lines = split_lines(base)
    left, right = splices_between(base, ours), splices_between(base, theirs)
    chunks: list[Sequence[str]] = []
    at = 0
    for low, high, mine, other in _groups(left, right):
        chunks.append(lines[at:low])
        if not other:
            chunks.append(_rewritten(lines, low, high, mine))
        else:
            kept = _rewritten(lines, low, high, other)
            chunks += [kept, [line for splice in mine for line in splice.added if line not in kept]]
        at = high
    chunks.append(lines[at:])
    return _joined([line for chunk in chunks for line in chunk])


def _groups(left: Iterable[Splice], right: Iterable[Splice]) -> list[tuple[int, int, list[Splice], list[Splice]]]:
    """Runs of base lines `[low, high)` with the splices of either side that touch one another there."""
    groups: list[tuple[int, int, list[Splice], list[Splice]]] = []
    tagged = [(splice, True) for splice in left] + [(splice, False) for splice in right]
    for splice, is_ours in sorted(tagged, key=lambda pair: (pair[0].start, _end(pair[0]), pair[1])):
        low, high = splice.start, _end(splice)
        if groups and _touches(groups[-1][0], groups[-1][1], low, high):
            start, end, mine, other = groups.pop()
            low, high = start, max(end, high)
        else:
            mine, other = [], []
        (mine if is_ours else other).append(splice)
        groups.append((low, high, mine, other))
    return groups


def _touches(low: int, high: int, start: int, end: int) -> bool:
    # Two insertions at one place are one clash; one right before or behind changed lines is none.
    return start < high or (low == high == start == end)


def _rewritten(lines: Sequence[str], low: int, high: int, splices: Sequence[Splice]) -> list[str]:
    found: list[str] = []
    at = low
    for splice in splices:
        found += [*lines[at : splice.start], *splice.added]
        at = _end(splice)
    return [*found, *lines[at:high]]


def _end(splice: Splice) -> int:
    return splice.start + len(splice.removed)


def _joined(lines: Sequence[str]) -> str:
    """The lines as a text; one without an ending that is no longer the last gets one."""
    whole = [line if line.endswith(("\n", "\r")) else line + "\n" for line in lines[:-1]]
    return "".join([*whole, *lines[-1:]])
