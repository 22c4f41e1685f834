"""A workspace of nanobot: `memory/MEMORY.md`, `USER.md`, and the history of summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.notes.kinds import Kind
from pipimem.runtime.transfer.formats.markdown_files import (
    left_out_blocks,
    markdown_entries,
    paragraphs,
)
from pipimem.runtime.transfer.formats.values import as_object, day_of_name, text_of
from pipimem.runtime.transfer.found import Found, FoundDay, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles

_MEMORY, _USER = "memory/MEMORY.md", "USER.md"
# Marks of the texts of MEMORY.md and USER.md as nanobot creates them (`template_mark`).
_TEMPLATE = frozenset((
    "e7174124", "7c26732c", "cb70bd5f", "3bf52900", "78c06761", "b048ba54", "cf74ed85",
    "da71cc4d", "ed586eee", "f33d18dd", "bcaa4386", "b1965137", "a1f0a789", "39fd0bc8",
    "a2773ec8", "15326a38", "5c18a120", "1998eb7c", "684eb91f", "d11195ce", "94a50d2d",
    "7b21cc9d", "00ffaaaf", "c92af09b", "3623fecb",
))  # fmt: skip
# Older versions append to HISTORY.md, each summary behind its time: [2026-03-12 22:16].
_HISTORY, _OLD_HISTORY = "memory/history.jsonl", "memory/HISTORY.md"
_STAMP = re.compile(r"^\[(?P<day>\d{4}-\d\d-\d\d)[^\]\n]{0,40}\][ \t]*", re.MULTILINE)
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
            yield from markdown_entries(
                text, name, kind=kind, plain_titles=_TITLES, template=_TEMPLATE
            )
    if _OLD_HISTORY in files.names:
        yield from _old_history(files.text(_OLD_HISTORY))
    if _HISTORY in files.names:
        yield from _history(files)
    known = (_MEMORY, _USER, _HISTORY, _OLD_HISTORY)
    for name in files.names:
        if name not in known and not name.startswith("memory/."):
            yield Skipped(name, "no page of the memory")


def _old_history(text: str) -> Iterator[Found]:
    by_day: dict[date, list[str]] = {}
    head, *summaries = _STAMP.split(text)
    for one in paragraphs(head):
        yield Skipped(f"{_OLD_HISTORY}:{one.line}", "a summary without time or content")
    for stamp, said in zip(summaries[::2], summaries[1::2], strict=True):
        day, lines = day_of_name(stamp), [one.text for one in paragraphs(said)]
        yield from left_out_blocks(said, f"{_OLD_HISTORY} {stamp}")
        if day is None or not lines:
            yield Skipped(f"{_OLD_HISTORY} {stamp}", "a summary without time or content")
            continue
        by_day.setdefault(day, []).extend(lines)
    for day, lines in by_day.items():
        yield FoundDay(day, tuple(lines), _OLD_HISTORY)


def _history(files: SourceFiles) -> Iterator[Found]:
    by_day: dict[date, list[str]] = {}
    with files.stream(_HISTORY) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, _HISTORY)), 1):
            day, said = day_of_name(text_of(row, "timestamp")), text_of(row, "content")
            if day is None or not said:
                yield Skipped(f"{_HISTORY}:{number}", "a summary without time or content")
                continue
            by_day.setdefault(day, []).extend(one.text for one in paragraphs(said))
    for day, lines in by_day.items():
        yield FoundDay(day, tuple(lines), _HISTORY)


FORMAT = SourceFormat("nanobot", "a workspace of nanobot", recognises, read)
