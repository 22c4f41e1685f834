"""Removes forgotten lines from a save that was made of a text from before the forgetting.

Past texts have a placeholder in the place of each: its keyed mark.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipimem.notes.entry import content_id
from pipimem.store.merge.merge_base import PastText, closest
from pipimem.text.folding import MARKERS
from pipimem.text.markdown.line_edits import changed_lines
from pipimem.text.markdown.lines import split_lines, without_ending

# No note has one: a file with NUL bytes is refused as no text.
_SIGN = "\0"


def mark_of(key: bytes, line: str) -> str:
    """Returns a keyed hash of 40 bits of a line's words; bullet and white space do not count."""
    return content_id(key, line.lstrip(MARKERS))


def placeholder(key: bytes, line: str) -> str:
    """The line with its mark for its words; its bullet, indent and ending stay."""
    words = line.lstrip(MARKERS)
    head, ending = line[: len(line) - len(words)], words[len(without_ending(words)) :]
    return f"{head}{_SIGN}{mark_of(key, line)}{ending}"


def is_placeholder(line: str) -> bool:
    """Whether a line of a past text is one."""
    return _SIGN in line


def without_placeholders(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without those that are placeholders."""
    return tuple(line for line in lines if not is_placeholder(line))


def marks_in(lines: Iterable[str]) -> frozenset[str]:
    """The marks of the placeholders among some lines."""
    return frozenset(
        without_ending(line.partition(_SIGN)[2]) for line in lines if is_placeholder(line)
    )


@dataclass(frozen=True, slots=True)
class IncomingText:
    """A person's text as it is merged: without the forgotten lines it would bring back.

    `marked` is the whole text, with a placeholder for each of those lines; `removed` is their
    number.
    """

    text: str
    marked: str
    removed: int = 0


def without_forgotten_lines(
    text: str, base: str, past: Iterable[PastText], key: bytes, tombstones: Container[str]
) -> IncomingText:
    """Returns a person's text without the forgotten lines that came with an older text.

    `base` is the text that the journal left the file with, `past` are the texts that stood in it,
    newest first. A forgotten line is known by the tombstone of its keyed mark. It is removed where
    the save resembles most a text from before the forgetting, and a comparison line by line finds
    the line there. Anywhere else a person typed it anew: it stays.
    """
    lines = split_lines(text)
    # All of them: the words of a forgotten line may stand elsewhere too, where nobody forgot them.
    placeholders = _placeholders(lines, base, key, tombstones)
    if not placeholders:
        return IncomingText(text, text)
    removed = _from_older_text(lines, base, past, placeholders)
    kept, marked = list(lines), list(lines)
    for number in removed:
        kept[number], marked[number] = "", placeholders[lines[number]]
    return IncomingText("".join(kept), "".join(marked), len(removed))


def _placeholders(
    lines: Sequence[str], base: str, key: bytes, tombstones: Container[str]
) -> dict[str, str]:
    """The placeholders of the forgotten lines; none where `base` has all of these lines."""
    known = _stripped(base)
    new = {line for line in lines if line.strip() not in known}
    if not any(_is_forgotten(line, key, tombstones) for line in new):
        return {}
    return {
        line: placeholder(key, line) for line in set(lines) if _is_forgotten(line, key, tombstones)
    }


def _stripped(text: str) -> set[str]:
    return {line.strip() for line in split_lines(text)}


def _is_forgotten(line: str, key: bytes, tombstones: Container[str]) -> bool:
    """Whether the words of a line have a tombstone for merges."""
    return bool(line.strip()) and f"line:{mark_of(key, line)}" in tombstones


def _from_older_text(
    lines: Sequence[str], base: str, past: Iterable[PastText], placeholders: Mapping[str, str]
) -> list[int]:
    """The numbers of the forgotten lines that came with a text from before the forgetting."""
    wanted = _marked(lines, placeholders)
    texts = (each._replace(lines=_marked(each.marked or each.lines, placeholders)) for each in past)
    origin = closest(wanted, texts)
    if origin is None or not origin.marked:
        return []
    known = _stripped(base)
    found = [
        number
        for number in _shared_lines(wanted, origin.lines)
        if lines[number] in placeholders and lines[number].strip() not in known
    ]
    if _was_added_last(wanted, found, _marked(split_lines(base), placeholders)):
        return []
    return found


def _marked(lines: Sequence[str], placeholders: Mapping[str, str]) -> tuple[str, ...]:
    """The lines with placeholders for those that have one."""
    if placeholders.keys().isdisjoint(lines):
        return tuple(lines)
    return tuple(placeholders.get(line, line) for line in lines)


def _shared_lines(new: Sequence[str], old: Sequence[str]) -> list[int]:
    """The numbers of the lines of `new` that a comparison finds in `old`.

    Bullets and white space at the ends do not count.
    """
    new, old = _words(new), _words(old)
    changed: set[int] = set()
    for each in changed_lines(old, new):
        changed.update(range(each.start, each.end))
    return [number for number in range(len(new)) if number not in changed]


def _words(lines: Iterable[str]) -> list[str]:
    return [line.lstrip(MARKERS).rstrip() for line in lines]


def _was_added_last(lines: Sequence[str], numbers: Sequence[int], base: Sequence[str]) -> bool:
    """Whether nothing but these lines was added to `base`, all at the end of one section.

    That is how a line is typed anew. An older text, saved again without any change, may look the
    same; for what a person may have typed, the doubt counts.
    """
    added = frozenset(numbers)
    rest = [line for number, line in enumerate(lines) if number not in added]
    if not numbers or _without_blanks(rest) != _without_blanks(base):
        return False
    together = _without_blanks(lines[numbers[0] : numbers[-1] + 1])
    following = _without_blanks(lines[numbers[-1] + 1 :])
    return len(together) == len(numbers) and (not following or following[0].startswith("#"))


def _without_blanks(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]
