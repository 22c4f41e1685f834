"""One change of a text taken back by a three-way merge, while what came later stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pipimem.store.merge.three_way import clashing_lines, merged
from pipimem.text.markdown.line_edits import Splice, spliced, splices_between
from pipimem.text.markdown.lines import split_lines
from pipimem.text.markdown.parser import BlockKind, parsed

_Entry = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Clash:
    """Why a change cannot be taken back: `lines` of it were changed again.

    Where `moves_entries`, none was, but without these lines other entries would change their words
    or their section.
    """

    lines: tuple[str, ...]
    moves_entries: bool = False


def reverted(before: str, after: str, now: str) -> str | Clash:
    """`now` without the change that led from `before` to `after`; both must be the whole texts.

    Headings that the change made stay where later entries need them. Returns `now` itself where
    nothing of the change is left.
    """
    if now == after:
        return before
    whole = _merged(before, after, now, before)
    if whole is not None:
        return whole
    without_entries = _merged(before, after, now, _with_headings_of(after, before))
    if without_entries not in (None, now):
        return without_entries
    return clash(before, after, now) or Clash(_changed_lines(after, before), moves_entries=True)


def clash(before: str, after: str, later: str) -> Clash | None:
    """The lines of a change, except headings, that `later` has changed again; `None` for none."""
    lines = clashing_lines(after, _with_headings_of(after, before), later)
    return Clash(lines) if lines else None


def _merged(before: str, after: str, now: str, wanted: str) -> str | None:
    """`now` with what leads from `after` to `wanted`; `None` where other entries would change."""
    if clashing_lines(after, wanted, now):
        return None
    text = merged(after, wanted, now)
    return text if _spares_others(before, after, now, text) else None


def _with_headings_of(after: str, before: str) -> str:
    """`before` with the headings and blank lines that the change to `after` brought."""

    def kept(splice: Splice) -> tuple[str, ...]:
        return splice.added or tuple(filter(_is_frame, splice.removed))

    undo = splices_between(after, before)
    return spliced(after, (Splice(splice.start, splice.removed, kept(splice)) for splice in undo))


def _is_frame(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _changed_lines(after: str, before: str) -> tuple[str, ...]:
    undo = splices_between(after, before)
    return tuple(line for splice in undo for line in splice.removed or splice.added)


def _spares_others(before: str, after: str, now: str, text: str) -> bool:
    """Whether entries that have none of the change's lines keep their words and their section.

    One may go back to where it stood before the change.
    """
    undo = splices_between(after, before)
    touched = {line.strip() for splice in undo for line in (*splice.removed, *splice.added)}
    old, new = _entries(now), _entries(text)
    removed, added = old - new - _entries(after), new - old - _entries(before)
    return all(touched.intersection(_lines(entry)) for entry in (*removed, *added))


def _entries(text: str) -> Counter[_Entry]:
    """Section and whole lines of each entry and paragraph."""
    document = parsed(text)
    return Counter(
        (section.title, "".join(document.lines[block.start : block.end]))
        for section in document.sections
        for block in section.blocks
        if block.kind in (BlockKind.ENTRY, BlockKind.PARAGRAPH)
    )


def _lines(entry: _Entry) -> Iterator[str]:
    return (line.strip() for line in split_lines(entry[1]))
