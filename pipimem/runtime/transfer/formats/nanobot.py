"""A workspace of nanobot: `memory/MEMORY.md`, `USER.md`, and `memory/history.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from pipimem.notes.kinds import Kind
from pipimem.runtime.transfer.formats.markdown_files import markdown_entries, paragraphs
from pipimem.runtime.transfer.formats.values import as_object, day_of_name, text_of
from pipimem.runtime.transfer.found import Found, FoundDay, LeftOut, SourceFormat
from pipimem.runtime.transfer.json_elements import JsonElements
from pipimem.runtime.transfer.source_files import SourceFiles

_MEMORY, _USER = "memory/MEMORY.md", "USER.md"
# So the template says what the page is.
_ABOUT = ("This file stores important information", "Information about the user to help")
_HISTORY, _OLD_HISTORY = "memory/history.jsonl", "memory/HISTORY.md"
_TITLES = {"user information": Kind.IDENTITY, "basic information": Kind.IDENTITY,
           "communication style": Kind.PREFERENCE}  # fmt: skip


def recognises(files: SourceFiles) -> bool:
    """Whether the memory stands in a folder of its own, with a history of summaries."""
    return _HISTORY in files.names or {_MEMORY, _OLD_HISTORY} <= set(files.names)


def read(files: SourceFiles) -> Iterator[Found]:
    """Entries of MEMORY.md and USER.md, and days of the history."""
    for name, kind in ((_MEMORY, Kind.FACT), (_USER, Kind.IDENTITY)):
        if name in files.names:
            text = files.text(name)
            for one in markdown_entries(text, name, kind=kind, plain_titles=_TITLES):
                if isinstance(one, LeftOut) or not one.text.startswith(_ABOUT):
                    yield one
    if _HISTORY in files.names:
        yield from _history(files)
    for name in files.names:
        if name not in (_MEMORY, _USER, _HISTORY) and not name.startswith("memory/."):
            yield LeftOut(name, "no page of the memory")


def _history(files: SourceFiles) -> Iterator[Found]:
    by_day: dict[date, list[str]] = {}
    with files.stream(_HISTORY) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, _HISTORY)), 1):
            day, said = day_of_name(text_of(row, "timestamp")), text_of(row, "content")
            if day is None or not said:
                yield LeftOut(f"{_HISTORY}:{number}", "a summary without time or content")
                continue
            by_day.setdefault(day, []).extend(one.text for one in paragraphs(said))
    for day, lines in by_day.items():
        yield FoundDay(day, tuple(lines), _HISTORY)


FORMAT = SourceFormat("nanobot", "a workspace of nanobot", recognises, read)
