"""Removes forgotten lines from a save that was made of a text from before the forgetting."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from pipimem.notes.entry import content_id
from pipimem.text.folding import MARKERS
from pipimem.text.markdown.lines import split_lines

# An editor that loaded a text before the forgetting saves it within a day; what a person saves
# later is theirs. In nanoseconds.
_OLD_BUFFER = 24 * 3600 * 10**9


def mark_of(key: bytes, line: str) -> str:
    """Return a keyed hash of 40 bits of a line's words; bullet and white space do not count."""
    return content_id(key, line.lstrip(MARKERS))


class IncomingText(Struct, frozen=True):
    """A person's text as it is merged, and how many forgotten lines it would have brought back."""

    text: str
    removed: int = 0


def without_forgotten_lines(
    text: str, saved: int, base: str, key: bytes, forgotten: Mapping[str, int]
) -> IncomingText:
    """Return a person's text without the forgotten lines that it would bring back.

    `saved` is when it was saved, and `forgotten` has when each line was forgotten, by its mark; in
    nanoseconds since 1970. A line that stands in `base`, the text that the file was left with, was
    typed anew since, and stays.
    """
    marks = {mark for mark, time in forgotten.items() if saved < time + _OLD_BUFFER}
    if not marks:
        return IncomingText(text)
    lines = split_lines(text)
    known = {line.strip() for line in split_lines(base)}
    kept = [line for line in lines if line.strip() in known or mark_of(key, line) not in marks]
    return IncomingText("".join(kept), len(lines) - len(kept))
