"""The three-way merge of two texts that grew out of one: both sides' words stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from pipimem.text.markdown.line_edits import Splice, spliced_lines, splices_between
from pipimem.text.markdown.lines import line_ending, split_lines

_BULLETS = ("- ", "* ", "+ ")


def merged(base: str, ours: str, theirs: str) -> str:
    """Returns `theirs` with what `ours` changed since `base`.

    Where both changed the same lines, theirs stay and ours follow them; what either took out is
    out; a line both added, and a bullet both moved, stands once.
    """
    if base == theirs or ours == theirs:
        return ours
    if base == ours:
        return theirs
    lines = split_lines(base)
    groups = _groups(splices_between(base, ours), splices_between(base, theirs))
    added = Counter(line for group in groups for splice in group.theirs for line in splice.added)
    result: list[str] = []
    at = 0
    for group in groups:
        result += lines[at : group.low]
        result += _merged_group(lines, group, added)
        at = group.high
    result += lines[at:]
    return _joined(result)


def clashing_lines(base: str, ours: str, theirs: str) -> tuple[str, ...]:
    """The lines of `base` that both sides changed or took out."""
    lines = split_lines(base)
    clashing: list[str] = []
    for group in _groups(splices_between(base, ours), splices_between(base, theirs)):
        both = _removed(group.ours) & _removed(group.theirs)
        clashing += [lines[number] for number in sorted(both)]
    return tuple(clashing)


class _Group(Struct):
    """The splices of either side that touch one another in the base lines `[low, high)`."""

    low: int
    high: int
    ours: list[Splice] = field(default_factory=list)
    theirs: list[Splice] = field(default_factory=list)


def _groups(ours: Iterable[Splice], theirs: Iterable[Splice]) -> list[_Group]:
    """The splices of both sides in groups that do not touch one another, in order."""
    groups: list[_Group] = []
    tagged = [(splice, True) for splice in ours] + [(splice, False) for splice in theirs]
    for splice, is_ours in sorted(tagged, key=lambda pair: (pair[0].start, _end(pair[0]), pair[1])):
        group = groups[-1] if groups else None
        if group is None or not _belongs_to(group, splice, is_ours):
            group = _Group(splice.start, _end(splice))
            groups.append(group)
        group.high = max(group.high, _end(splice))
        side = group.ours if is_ours else group.theirs
        side.append(splice)
    return groups


def _belongs_to(group: _Group, splice: Splice, is_ours: bool) -> bool:
    """Whether a splice touches a group, or adds a heading that the other side added before it."""
    # Two insertions at one place are one clash; one right before or behind changed lines is none.
    is_same_place = group.low == group.high == splice.start == _end(splice)
    if splice.start < group.high or is_same_place:
        return True
    if splice.start > group.high:
        return False
    others = group.theirs if is_ours else group.ours
    headings = {line for other in others for line in other.added if line.startswith("#")}
    return not headings.isdisjoint(splice.added)


def _merged_group(lines: Sequence[str], group: _Group, added: Counter[str]) -> list[str]:
    """The lines that a group leads to: theirs, and behind them what only ours added.

    `added` counts the lines that theirs added anywhere: bullets among them are not added again.
    """
    if not group.theirs:
        return _rewritten(lines, group, group.ours, lambda found: _once(found, added))
    removed = _removed(group.ours)
    kept = _rewritten(lines, group, group.theirs, removed=removed)
    known = frozenset(kept)
    ours = [line for splice in group.ours for line in splice.added if line not in known]
    return kept + ours


def _rewritten(
    lines: Sequence[str],
    group: _Group,
    splices: Sequence[Splice],
    of_added: Callable[[Sequence[str]], Sequence[str]] = tuple,
    removed: frozenset[int] = frozenset(),
) -> list[str]:
    """The base lines of a group with the splices made, and without those of some numbers."""
    found: list[str] = []
    at = group.low
    for splice in splices:
        found += [lines[number] for number in range(at, splice.start) if number not in removed]
        found += of_added(splice.added)
        at = _end(splice)
    return found + [lines[number] for number in range(at, group.high) if number not in removed]


def _removed(splices: Iterable[Splice]) -> frozenset[int]:
    return frozenset(number for splice in splices for number in range(splice.start, _end(splice)))


def _once(added: Sequence[str], elsewhere: Counter[str]) -> list[str]:
    """The added lines without the bullets, and what belongs to them, that stand `elsewhere`."""
    kept: list[str] = []
    is_skipping = False
    for line in added:
        is_part = line.startswith(_BULLETS) or (is_skipping and line[0] in " \t")
        is_skipping = is_part and elsewhere[line] > 0 and bool(line.strip())
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
    """Return `base` with the lines that `theirs` has beside it: it may be half of a text.

    A last line without an ending is no new line if it is the beginning of the line that comes next
    in `base` or `ours`: there the text was cut.
    """
    lines = split_lines(base)
    *whole, last = theirs.split("\n")
    if last and any(
        _next_line(text, whole).startswith(last) for text in (lines, split_lines(ours))
    ):
        theirs = theirs[: -len(last)]
    additions = (Splice(_end(splice), (), splice.added) for splice in splices_between(base, theirs))
    return _joined(spliced_lines(lines, additions))


def _next_line(text: Iterable[str], lines: Sequence[str]) -> str:
    """Return the line of a text behind the last of `lines` that it has; blank ones do not count."""
    filled = [line for line in text if line.strip()]
    places = {line.strip(): place for place, line in enumerate(filled)}
    known = (places[line.strip()] for line in reversed(lines) if line.strip() in places)
    return "".join(filled[next(known, -1) + 1 :][:1])


_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")


def has_conflict(text: str) -> bool:
    """Whether a text has the two sides of a conflict that git could not merge."""
    if _CONFLICT[0] not in text:
        return False
    signs = iter(_CONFLICT)
    wanted = next(signs)
    for line in text.splitlines():
        if line.startswith(wanted):
            wanted = next(signs, "")
            if not wanted:
                return True
    return False
