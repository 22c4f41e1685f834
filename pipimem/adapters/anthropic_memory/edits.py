"""An edit of MEMORY.md's text by a model, as calls of the conversation's tools that do the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from pipimem.errors import PipimemError
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.notes import Note
from pipimem.text.markdown.lines import heading

_ONLY_BULLETS = (
    "Only lines that begin with '- ' can be added, changed or taken out; headings, paragraphs and "
    "comments are people's. Nothing was changed."
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool of the conversation."""

    name: str
    arguments: dict[str, Any]


def calls_for(note: Note, shown: str, edited: str) -> list[ToolCall]:
    """The calls that make the text `shown` of a note the text `edited`.

    `shown` is its text as the model sees it, with secrets masked. Raises `PipimemError` where the
    edit changes anything but bullets.
    """
    before, after = (Note.read(File.MEMORY, text, b"") for text in (shown, edited))
    real, old, new = _bullets(note), _bullets(before), _bullets(after)
    if len(real) != len(old) or _changes_others(before, after):
        raise PipimemError(_ONLY_BULLETS)
    keys, new_keys = [_key(entry) for entry in old], [_key(entry) for entry in new]
    matched = SequenceMatcher(None, keys, new_keys, autojunk=False)
    calls: list[ToolCall] = []
    for tag, begin, end, new_begin, new_end in matched.get_opcodes():
        if tag != "equal":
            calls += _calls(real[begin:end], new[new_begin:new_end])
    if not calls and shown.split() != edited.split():
        raise PipimemError(_ONLY_BULLETS)  # a comment among the lines of a bullet
    return calls


def _calls(old: Sequence[Entry], new: Sequence[Entry]) -> Iterator[ToolCall]:
    """Entries that stand in the place of others: each of its own, the rest comes or goes."""
    for entry, other in zip(old, new, strict=False):
        given: dict[str, Any] = {"id": f"memory:{entry.ref}", "text": other.text}
        if other.section != entry.section:
            given["kind"] = _kind(other)
        yield ToolCall("memory_update", given)
    for other in new[len(old) :]:
        yield ToolCall("memory_save", {"text": other.text, "kind": _kind(other)})
    gone = [f"memory:{entry.ref}" for entry in old[len(new) :]]
    if gone:
        yield ToolCall("memory_forget", {"ids": gone})


def _bullets(note: Note) -> list[Entry]:
    return [entry for entry in note.entries if entry.bullet]


def _changes_others(before: Note, after: Note) -> bool:
    """Whether any line changes that belongs to no bullet; new headings of memory's own may come."""
    old, new = Counter(_others(before)), Counter(_others(after))
    return bool(old - new) or any(not _is_known_heading(line) for line in new - old)


def _others(note: Note) -> Iterator[str]:
    """The lines of a note that belong to no bullet."""
    of_bullets = {line for entry in _bullets(note) for line in range(entry.start, entry.end)}
    for number, line in enumerate(note.document.lines):
        if number not in of_bullets and line.strip():
            yield line.strip()


def _is_known_heading(line: str) -> bool:
    """Whether a line is a heading that the runtime would make itself."""
    found = heading(line)
    return found is not None and kind_of(found[2]) is not None


def _key(entry: Entry) -> tuple[str, str]:
    return entry.section, entry.text


def _kind(entry: Entry) -> str:
    return str(kind_of(entry.section) or Kind.FACT)
