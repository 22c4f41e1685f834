"""A change to a text as the lines it touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipimem.text.line_diff import changed_lines
from pipimem.text.markdown.blocks import Document
from pipimem.text.markdown.lines import BOM, split_lines, without_ending


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


def edited(document: Document, edits: Sequence[tuple[int, int, Sequence[str]]]) -> str:
    """The text of `document` with each span of lines `[start, end)` replaced by other lines.

    The new lines are given without ending. `start == end` inserts. Several inserts at one place
    keep their order. New lines get the ending of the document; a last line without one gets it only
    if something now follows. A byte order mark stays on top. ValueError if spans overlap or lie
    outside, or if a line holds a line break.
    """
    lines = list(document.lines)
    mark = BOM if lines and lines[0].startswith(BOM) else ""
    if mark:
        lines[0] = lines[0].removeprefix(BOM)
    result: list[str] = []
    reached = 0
    for start, end, added in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if not reached <= start <= end <= len(lines):
            raise ValueError(
                f"the edit of lines {start} to {end} overlaps another or lies outside the text"
            )
        _append_kept(result, lines[reached:start])
        _append_new(result, added, document.eol)
        reached = end
    _append_kept(result, lines[reached:])
    return mark + "".join(result)


def _append_kept(result: list[str], kept: Sequence[str]) -> None:
    """Appends lines; a "\\r" before a lone "\\n" gets its own, or the two were one ending."""
    if kept and kept[0].startswith("\n") and _ends_with(result, "\r"):
        result[-1] += "\n"
    result += kept


def _append_new(result: list[str], added: Sequence[str], eol: str) -> None:
    """Appends lines given without ending; a last line without one gets its ending first."""
    if added and result and result[-1] and not _ends_with(result, "\n", "\r"):
        result[-1] += eol
    for line in added:
        ended = _one_line(line) + eol
        # A "\n" behind a "\r" would be no line of its own.
        if ended == "\n" and _ends_with(result, "\r"):
            ended = "\r"
        result.append(ended)


def _ends_with(lines: list[str], *endings: str) -> bool:
    return bool(lines) and lines[-1].endswith(endings)


def _one_line(line: str) -> str:
    if without_ending(line) != line or len(split_lines(line)) > 1:
        raise ValueError(f"{line[:40]!r} is more than one line; split it first")
    return line
