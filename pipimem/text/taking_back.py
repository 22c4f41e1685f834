"""One change taken out of a text, while what came later stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipimem.text.markdown import Document, Kind, parsed
from pipimem.text.splices import Splice, reversed_splices, spliced, splices_between

Step = Sequence[Splice]
"""A later change, as its splices; they stand in order."""


@dataclass(frozen=True, slots=True)
class InTheWay:
    """Why a change cannot be taken back: later change number `step` touched these lines, `None` where other entries
    would come under another heading or change their words without it."""

    step: int | None
    lines: tuple[str, ...] = ()


def without_change(now: str, change: Step, later: Sequence[Step], before: str | None = None) -> str | InTheWay:
    """`now` without a change, whose lines must stand as it left them; nothing else may change its words or section.

    `later` leads from the text right after the change to `now`. With `before`, the text the change was made on, lines
    that were changed and changed back are found too.
    """
    undo = reversed_splices(change)
    if not any(later):
        return spliced(now, undo)
    if before is not None and spliced(before, change) == now:
        return before
    found = _traced(undo, later)
    if isinstance(found, InTheWay) and before is not None:
        direct = _traced(undo, [splices_between(spliced(before, change), now)])
        found = found if isinstance(direct, InTheWay) else direct
    if isinstance(found, InTheWay):
        return found
    document = parsed(now)
    known = _entries(parsed(before), ()) if before is not None else Counter[tuple[str, str]]()
    for draft in (found, _entries_only(document, found)):
        text = draft.on(document)
        if text is not None and _spares(document, draft, text, known):
            return text
    return InTheWay(None, found.taken_lines(document))


@dataclass(frozen=True, slots=True)
class _Draft:
    """Numbers of lines to take out, and lines to put in before a number."""

    taken: set[int] = field(default_factory=set)
    put: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def taken_lines(self, document: Document) -> tuple[str, ...]:
        """The lines it takes out."""
        return tuple(document.lines[number] for number in sorted(self.taken))

    def rows(self, document: Document) -> list[tuple[str, bool]]:
        """The lines of the new text, and whether each was put in; every line but the last ended."""
        rows: list[tuple[str, bool]] = []
        put = sorted(self.put, key=lambda pair: pair[0])
        for number in range(len(document.lines) + 1):
            while put and put[0][0] == number:
                rows += [(line, True) for line in put.pop(0)[1]]
            if number < len(document.lines) and number not in self.taken:
                rows.append((document.lines[number], False))
        return [*((_ended(line, document.eol), is_put) for line, is_put in rows[:-1]), *rows[-1:]]

    def on(self, document: Document) -> str | None:
        """The new text; `None` where it would change nothing."""
        return "".join(line for line, _ in self.rows(document)) if self.taken or self.put else None


def _ended(line: str, eol: str) -> str:
    return line if line.endswith(("\n", "\r")) else line + eol


def _traced(undo: Iterable[Splice], later: Sequence[Step]) -> _Draft | InTheWay:
    """Where the lines of a change stand after later ones, and where what it took out belongs."""
    draft = _Draft()
    for splice in undo:
        lines = [(line, splice.start + offset) for offset, line in enumerate(splice.removed)]
        point: int | None = splice.start
        for step, change in enumerate(later):
            moved = [(line, _moved(number, number + 1, change)) for line, number in lines]
            lost = [line for line, number in moved if number is None]
            lines = [(line, number) for line, number in moved if number is not None]
            if splice.added:
                point = lines[0][1] if lines else _moved(point or 0, point or 0, change)
            # A heading that the change made and somebody reworded may stay; nothing came in its place.
            if point is None or any(splice.added or not _is_frame(line) for line in lost):
                return InTheWay(step, splice.removed or splice.added)
        draft.taken.update(number for _, number in lines)
        if splice.added:
            draft.put.append((point or 0, splice.added))
    return draft


def _is_frame(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _moved(start: int, end: int, change: Step) -> int | None:
    """Where lines `[start, end)` begin after a change, `None` where it touched them.

    What stands at a bare point (`start == end`) is put in before what the change puts in there.
    """
    shift = 0
    for splice in change:
        until = splice.start + len(splice.removed)
        if splice.start >= end:
            break
        if until > start:
            return None
        shift += len(splice.added) - len(splice.removed)
    return start + shift


def _entries_only(document: Document, draft: _Draft) -> _Draft:
    """The draft with the headings and blank lines left standing that later entries may need."""
    blocks = [block for section in document.sections for block in section.blocks]
    whole = [
        range(block.start, block.end)
        for block in blocks
        if block.kind in (Kind.ENTRY, Kind.PARAGRAPH) and draft.taken.issuperset(range(block.start, block.end))
    ]
    taken = {number for lines in whole for number in lines}
    put = [(_first_within(point, taken, draft.taken), lines) for point, lines in draft.put]
    return _Draft(taken, put)


def _first_within(point: int, taken: set[int], run: set[int]) -> int:
    """The first line of `taken` in the run of lines that begins at `point`; else the point itself."""
    number = point
    while number in run and number not in taken:
        number += 1
    return number if number in taken else point


def _spares(document: Document, draft: _Draft, text: str, known: Counter[tuple[str, str]]) -> bool:
    """Whether every entry that has none of the lines in question keeps its words and its section.

    One that stood in another section before the change (`known`) may go back there.
    """
    put = [number for number, (_, is_put) in enumerate(draft.rows(document)) if is_put]
    old, new = _entries(document, draft.taken), _entries(parsed(text), put)
    if Counter(words for _, words in old.elements()) != Counter(words for _, words in new.elements()):
        return False
    return all(place in known for place in new - old)


def _entries(document: Document, apart: Iterable[int]) -> Counter[tuple[str, str]]:
    """Section and text of the entries that have none of some lines."""
    lines = set(apart)
    return Counter(
        (section.title, block.text)
        for section in document.sections
        for block in section.blocks
        if block.kind in (Kind.ENTRY, Kind.PARAGRAPH) and lines.isdisjoint(range(block.start, block.end))
    )
