"""A document read again after a change: only the lines around the change are parsed, the rest is taken over."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipimem.text.blocks import Block, Document, Kind, Section
from pipimem.text.lines import BOM, split_lines
from pipimem.text.markdown import parsed
from pipimem.text.shared_ends import shared_head, shared_tail

# So many blocks around the change are tried as a place to begin or to end; further away is another kind of text.
_NEAR = 40


@dataclass(frozen=True, slots=True)
class Reparsed:
    """The document as it is now; its lines `[start, end)` were read anew, in the place of `[start, old_end)`."""

    document: Document
    start: int
    old_end: int
    end: int


@dataclass(frozen=True, slots=True)
class _Window:
    """What is read anew: from a block that begins above the change to one that begins below it, or the end."""

    section: int
    first: int
    following: int
    """The block of the section that ends it; as many as there are blocks where the next section or the end does."""


def reparsed(old: Document, before: str, after: str) -> Reparsed | None:
    """The document `after` makes, by way of the `old` one that `before` made; None where only a whole reading is safe.

    A bullet or a heading that begins above the change begins there whatever follows. One that begins below it and is
    found again as such ends what the change can have any bearing on. Comments may reach further, so they are left to
    a whole reading.
    """
    same = _compared(old, before, after)
    first, last = same.lines, len(old.lines) - same.lines_behind
    window = _window(old, first, last)
    if window is None:
        return None
    section = old.sections[window.section]
    start, old_end = section.blocks[window.first].start, _end(section, window)
    below = old_end < len(old.lines)
    # The lines from the window's beginning on, up to the change, as they were; the change; and up to the first line below.
    change = split_lines(after[same.characters : len(after) - same.characters_behind])
    lines = (*old.lines[:first], *change, *old.lines[last:])
    end = old_end + len(lines) - len(old.lines)
    read = _read_alone(lines[start : end + below], is_heading=section.blocks[window.first].kind is Kind.HEADING)
    if read is None or _comment_reaches(before, same.characters - sum(map(len, lines[start:first]))):
        return None
    if below:
        tail = read.pop()
        if tail.start != end - start or tail.kind is not _following(old, window).kind:
            return None
    if any(block.kind is Kind.HEADING for block in read[1:]) or not (
        same.is_plain or _same_endings(old, old.lines[first:last], change)
    ):
        return None
    blocks = [_moved(block, start) for block in read]
    return Reparsed(_put_together(old, lines, window, blocks, end - old_end), start, old_end, end)


@dataclass(frozen=True, slots=True)
class _Same:
    """What two texts have in common at their beginnings and behind: whole lines, with the characters in them.

    `is_plain` says that "\\n" is the only ending of either.
    """

    lines: int
    characters: int
    lines_behind: int
    characters_behind: int
    is_plain: bool


def _compared(old: Document, before: str, after: str) -> _Same:
    shortest = min(len(before), len(after))
    head = shared_head(before, after, shortest)
    tail = len(before) - shared_tail(before, after, shortest - head)
    if "\r" in before or "\r" in after:
        # One character more, on either side: "\r" is an ending by itself only where no "\n" follows.
        ends = list(accumulate(map(len, old.lines)))
        first, last = bisect_right(ends, head - 1), bisect_left(ends, tail + 1) + 1
        first, last = first, max(first, min(last, len(ends)))
        characters, behind = ends[first - 1] if first else 0, len(before) - (ends[last - 1] if last else 0)
        return _Same(first, characters, len(ends) - last, behind, is_plain=False)
    first, characters = before.count("\n", 0, head), before.rfind("\n", 0, head) + 1
    end = before.find("\n", tail) + 1 or len(before)
    last = first + before.count("\n", characters, end) + (end == len(before) and not before.endswith("\n"))
    return _Same(first, characters, len(old.lines) - last, len(before) - end, is_plain=True)


def _window(old: Document, first: int, last: int) -> _Window | None:
    number = bisect_left(old.sections, first, key=lambda section: section.start) - 1
    if number < 0:
        return None
    section = old.sections[number]
    ends_here = number + 1 == len(old.sections)
    if not ends_here and old.sections[number + 1].start < last:
        return None  # a heading is among the changed lines
    above = bisect_left(section.blocks, first, key=lambda block: block.start) - 1
    begin = next((n for n in range(above, max(-1, above - _NEAR), -1) if _stands_alone(section.blocks[n])), None)
    if begin is None:
        return None
    below = bisect_left(section.blocks, last, key=lambda block: block.start)
    near = range(below, min(len(section.blocks), below + _NEAR))
    following = next((n for n in near if _stands_alone(section.blocks[n])), None)
    if following is None:
        following = len(section.blocks)
        if following > below + _NEAR or not (ends_here or _stands_alone(old.sections[number + 1].blocks[0])):
            return None
    return _Window(number, begin, following)


def _stands_alone(block: Block) -> bool:
    """Whether its first line says what it is: a bullet, or a heading with its mark."""
    return block.kind is Kind.ENTRY or (block.kind is Kind.HEADING and block.marker != "")


def _end(section: Section, window: _Window) -> int:
    return section.blocks[window.following].start if window.following < len(section.blocks) else section.end


def _following(old: Document, window: _Window) -> Block:
    blocks = old.sections[window.section].blocks
    return blocks[window.following] if window.following < len(blocks) else old.sections[window.section + 1].blocks[0]


def _read_alone(lines: Sequence[str], *, is_heading: bool) -> list[Block] | None:
    """The blocks of the window, None where more than its own lines may have a say in them."""
    text = "".join(lines)
    if "<!--" in text or text.startswith(BOM):
        return None
    read = [block for section in parsed(text).sections for block in section.blocks]
    wanted = Kind.HEADING if is_heading else Kind.ENTRY
    return read if read and read[0].kind is wanted and read[0].start == 0 else None


def _comment_reaches(before: str, place: int) -> bool:
    """Whether a comment may be open in the lines above, which looks for its end below, up to a blank line."""
    blank = max(before.rfind("\n\n", 0, place), before.rfind("\n\r\n", 0, place), 0)
    return "<!--" in before[blank:place]


def _same_endings(old: Document, gone: Sequence[str], came: Sequence[str]) -> bool:
    """Whether the ending that most lines have is surely the same as before."""
    return len(came) >= len(gone) and all(_ends_in(line, old.eol) for line in (*gone, *came))


def _ends_in(line: str, eol: str) -> bool:
    return line.endswith(eol) and (eol != "\n" or not line.endswith("\r\n"))


def _moved(block: Block, lines: int) -> Block:
    return Block(block.kind, block.start + lines, block.end + lines, block.text, block.level, block.marker)


def _put_together(
    old: Document, lines: tuple[str, ...], window: _Window, blocks: Sequence[Block], shift: int
) -> Document:
    section = old.sections[window.section]
    rest = section.blocks[window.following :]
    later = old.sections[window.section + 1 :]
    if shift:
        rest, later = tuple(_moved(block, shift) for block in rest), tuple(_moved_sections(later, shift))
    own = (*section.blocks[: window.first], *blocks, *rest)
    anew = Section(section.title, section.level, section.start, section.body, section.end + shift, own)
    return Document(lines, (*old.sections[: window.section], anew, *later), old.eol)


def _moved_sections(sections: Sequence[Section], shift: int) -> Iterator[Section]:
    for one in sections:
        blocks = tuple(_moved(block, shift) for block in one.blocks)
        yield Section(one.title, one.level, one.start + shift, one.body + shift, one.end + shift, blocks)
