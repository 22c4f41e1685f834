"""Two texts that grew out of one, brought together: both sides' words stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pipimem.text.lines import line_ending, split_lines
from pipimem.text.splices import Splice, splices_between

_BULLETS = ("- ", "* ", "+ ")


def merged(base: str, ours: str, theirs: str) -> str:
    """`theirs` with what `ours` changed since `base`.

    Where both changed the same lines, theirs stay and ours follow them; what either took out is out; a line
    both added, and a bullet both moved, stands once.
    """
    if base == theirs or ours == theirs:
        return ours
    if base == ours:
        return theirs
    lines = split_lines(base)
    left, right = splices_between(base, ours), splices_between(base, theirs)
    added = Counter(line for splice in right for line in splice.added)
    chunks: list[Sequence[str]] = []
    at = 0
    for low, high, mine, other in _groups(left, right):
        chunks.append(lines[at:low])
        if not other:
            chunks.append(_rewritten(lines, low, high, mine, without=added))
        else:
            kept = _rewritten(lines, low, high, other, gone=_taken_out(mine))
            standing = frozenset(kept)
            ours_too = [line for splice in mine for line in splice.added if line not in standing]
            chunks += [kept, ours_too]
        at = high
    chunks.append(lines[at:])
    return _joined([line for chunk in chunks for line in chunk])


def clashing_lines(base: str, ours: str, theirs: str) -> tuple[str, ...]:
    """The lines of `base` that both sides changed or took out."""
    lines = split_lines(base)
    groups = _groups(splices_between(base, ours), splices_between(base, theirs))
    return tuple(
        lines[number]
        for _, _, mine, other in groups
        for number in sorted(_taken_out(mine) & _taken_out(other))
    )


def _groups(
    left: Iterable[Splice], right: Iterable[Splice]
) -> list[tuple[int, int, list[Splice], list[Splice]]]:
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


def _rewritten(
    lines: Sequence[str], low: int, high: int, splices: Sequence[Splice], *, gone: frozenset[int] = frozenset(),
    without: Counter[str] | None = None,
) -> list[str]:  # fmt: skip
    """Base lines `[low, high)` with the splices made, the lines of some numbers taken out, and bullets that
    stand in `without` not added again."""
    found: list[str] = []
    at = low
    for splice in splices:
        found += [lines[number] for number in range(at, splice.start) if number not in gone]
        found += _once(splice.added, without) if without else splice.added
        at = _end(splice)
    return found + [lines[number] for number in range(at, high) if number not in gone]


def _taken_out(splices: Iterable[Splice]) -> frozenset[int]:
    return frozenset(number for splice in splices for number in range(splice.start, _end(splice)))


def _once(added: Sequence[str], elsewhere: Counter[str]) -> list[str]:
    """Lines to be added, without the bullets at the margin, and what belongs to them, that the other side
    added elsewhere."""
    kept: list[str] = []
    is_skipping = False
    for line in added:
        is_there = elsewhere[line] > 0 and bool(line.strip())
        is_skipping = is_there and (line.startswith(_BULLETS) or (is_skipping and line[0] in " \t"))
        if is_skipping:
            elsewhere[line] -= 1
        else:
            kept.append(line)
    return kept


def _end(splice: Splice) -> int:
    return splice.start + len(splice.removed)


def _joined(lines: Sequence[str]) -> str:
    """The lines as a text; one without an ending that is no longer the last gets one."""
    eol = line_ending(lines)
    whole = [line if line.endswith(("\n", "\r")) else line + eol for line in lines[:-1]]
    return "".join([*whole, *lines[-1:]])


def only_added(base: str, ours: str, theirs: str) -> str:
    """`base` with the lines that `theirs` has and it has not: for a text that may be the first half of one.

    A last line cut in the middle that begins like one of `base` or `ours` is no new line.
    """
    lines = split_lines(base)
    head, end, last = theirs.rpartition("\n")
    if last and any(line.startswith(last) for line in (*lines, *split_lines(ours))):
        theirs = head + end
    return _joined(
        [line for chunk in _with_additions(lines, splices_between(base, theirs)) for line in chunk]
    )


def _with_additions(lines: Sequence[str], splices: Iterable[Splice]) -> Iterable[Sequence[str]]:
    at = 0
    for splice in splices:
        yield lines[at : _end(splice)]
        yield splice.added
        at = _end(splice)
    yield lines[at:]
