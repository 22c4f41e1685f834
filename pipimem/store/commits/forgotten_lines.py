"""Forgotten lines in a person's save: taken out where it was made of a text from before the forgetting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipimem.store.commits.merge_base import closest
from pipimem.store.journal.placeholders import is_placeholder, mark_of, placeholder
from pipimem.store.journal.state import PastText
from pipimem.text.lines import split_lines


@dataclass(frozen=True, slots=True)
class Save:
    """A person's text as it is merged: without the forgotten lines it would bring back.

    `marked` is the text with a placeholder for each of those; `taken_out` says how many they are.
    """

    text: str
    marked: str
    taken_out: int = 0


def cleaned(
    text: str, left: str, past: Iterable[PastText], key: bytes, tombstones: Container[str]
) -> Save:
    """Returns a person's text without the forgotten lines that came with an older text.

    `left` is the text that the journal left the file with, `past` are the texts that stood in it,
    newest first. A forgotten line is known by the tombstone of its keyed mark. It is taken out
    where the save resembles most a text from before the forgetting and the line stands between the
    same lines as there. Anywhere else a person typed it anew: it stays.
    """
    lines = split_lines(text)
    standing = {line.strip() for line in split_lines(left)}
    came = (line for line in lines if line.strip() not in standing)
    if not any(_is_forgotten(line, key, tombstones) for line in came):
        return Save(text, text)
    # All of them: the words of a forgotten line may stand elsewhere too, where nobody forgot them.
    placeholders = {
        line: placeholder(key, line) for line in set(lines) if _is_forgotten(line, key, tombstones)
    }
    numbers = [
        number
        for number, line in enumerate(lines)
        if line in placeholders and line.strip() not in standing
    ]
    gone = frozenset(_brought_back(lines, numbers, left, past, placeholders))
    if not gone:
        return Save(text, text)
    kept = "".join(line for number, line in enumerate(lines) if number not in gone)
    marked = [placeholders[line] if number in gone else line for number, line in enumerate(lines)]
    return Save(kept, "".join(marked), len(gone))


def _is_forgotten(line: str, key: bytes, tombstones: Container[str]) -> bool:
    """Whether the words of a line have a tombstone for merges."""
    return bool(line.strip()) and f"line:{mark_of(key, line)}" in tombstones


def _brought_back(
    lines: Sequence[str],
    numbers: Sequence[int],
    left: str,
    past: Iterable[PastText],
    placeholders: Mapping[str, str],
) -> list[int]:
    """Those of the forgotten lines `numbers` that came with a text from before the forgetting."""
    wanted = _marked(lines, placeholders)
    texts = (each._replace(lines=_marked(each.marked or each.lines, placeholders)) for each in past)
    origin = closest(wanted, texts)
    if origin is None or not origin.marked:
        return []
    in_place = _in_place(wanted, origin.lines)
    found = [number for number in numbers if number in in_place]
    if _was_added_last(wanted, found, _marked(split_lines(left), placeholders)):
        return []
    return found


def _marked(lines: Sequence[str], placeholders: Mapping[str, str]) -> tuple[str, ...]:
    """The lines with placeholders for those that have one."""
    if placeholders.keys().isdisjoint(lines):
        return tuple(lines)
    return tuple(placeholders.get(line, line) for line in lines)


def _in_place(new: Sequence[str], old: Sequence[str]) -> set[int]:
    """The numbers of the lines of `new` that follow, or are followed by, the same anchor as in `old`.

    Anchors are the lines that stand once in either.
    """
    new, old = [line.strip() for line in new], [line.strip() for line in old]
    in_new, in_old = Counter(new), Counter(old)
    once = {line for line in in_new if line and in_new[line] == 1 == in_old[line]}
    anchors = {line for line in once if not is_placeholder(line)}
    in_order = zip(new, _anchors_before(new, anchors), strict=True)
    behind = set(zip(old, _anchors_before(old, anchors), strict=True))
    backwards = zip(new, _anchors_before(new[::-1], anchors)[::-1], strict=True)
    ahead = set(zip(old, _anchors_before(old[::-1], anchors)[::-1], strict=True))
    found = {number for number, place in enumerate(in_order) if place in behind}
    return found | {number for number, place in enumerate(backwards) if place in ahead}


def _anchors_before(lines: Sequence[str], anchors: Container[str]) -> list[str]:
    """For each line the last anchor before it; empty where there is none."""
    found: list[str] = []
    last = ""
    for line in lines:
        found.append(last)
        last = line if line in anchors else last
    return found


def _was_added_last(lines: Sequence[str], numbers: Sequence[int], left: Sequence[str]) -> bool:
    """Whether nothing but these lines was added to `left`, all at the end of one section.

    That is how a line is typed anew. An older text, saved again without any change, may look the
    same; for what a person may have typed, the doubt counts.
    """
    added = frozenset(numbers)
    rest = [line for number, line in enumerate(lines) if number not in added]
    if not numbers or _without_blanks(rest) != _without_blanks(left):
        return False
    behind = _without_blanks(lines[numbers[0] : numbers[-1] + 1])
    following = _without_blanks(lines[numbers[-1] + 1 :])
    return len(behind) == len(numbers) and (not following or following[0].startswith("#"))


def _without_blanks(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]
