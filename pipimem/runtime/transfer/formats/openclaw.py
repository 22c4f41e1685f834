"""A workspace of OpenClaw: `MEMORY.md`, and a page a day in `memory/`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.notes.kinds import Kind
from pipimem.runtime.transfer.formats.markdown_files import (
    left_out_blocks,
    markdown_entries,
    paragraphs,
)
from pipimem.runtime.transfer.formats.values import day_of_name
from pipimem.runtime.transfer.found import Found, FoundDay, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles

_CURATED = ("MEMORY.md", "memory.md")
_USER = "USER.md"
_INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md")
# Marks of the texts of USER.md as OpenClaw creates it (`template_mark`).
_TEMPLATE = frozenset(
    ["079aa257", "71a6cc3a", "b8bb4f1d", "d39f3ce1", "215a0a3c", "04c58221", "ec6921f3", "40f7119a"]
)
_DAY = re.compile(r"(?:.*/)?memory/(?:.*/)?\d{4}-\d{2}-\d{2}[^/]*\.md")


def recognises(files: SourceFiles) -> bool:
    """Whether there is a page of a day, or a MEMORY.md beside a file that says who the agent is."""
    if any(map(_DAY.fullmatch, files.names)):
        return True
    names = set(files.names)
    return bool(names & set(_CURATED)) and bool(names & set(_INSTRUCTIONS))


def read(files: SourceFiles) -> Iterator[Found]:
    """Entries of MEMORY.md and USER.md, days, and entries of the other pages in `memory/`."""
    for name in files.named(".md"):
        if name in _INSTRUCTIONS:
            yield Skipped(name, "instructions to the agent")
        elif _DAY.fullmatch(name):
            yield from _day(files, name)
        elif name == _USER:
            text = files.text(name)
            yield from markdown_entries(text, name, kind=Kind.IDENTITY, template=_TEMPLATE)
        elif name in _CURATED or name.startswith("memory/"):
            yield from markdown_entries(files.text(name), name)
        else:
            yield Skipped(name, "no page of the memory")


def _day(files: SourceFiles, name: str) -> Iterator[Found]:
    base = files.base(name)
    day = day_of_name(base)
    text = files.text(name)
    lines = tuple(one.text for one in paragraphs(text))
    yield from left_out_blocks(text, name)
    if day is None:
        yield Skipped(name, "a page of a day that is none")
    elif lines:
        yield FoundDay(day, lines, name, _title(base))


def _title(base: str) -> str:
    """What a day's page is about, as its name says behind the day."""
    return base[10:].removesuffix(".md").strip("-_ ").replace("-", " ")


FORMAT = SourceFormat("openclaw", "a workspace of OpenClaw", recognises, read)
