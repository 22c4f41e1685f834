"""A memory folder of Claude Code: `MEMORY.md`, an index, and one fact a file with front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Trust
from pipimem.runtime.transfer.formats.markdown_files import (
    front_matter,
    left_out_blocks,
    markdown_entries,
    paragraphs,
)
from pipimem.runtime.transfer.found import Found, FoundEntry, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles

_INDEX = "MEMORY.md"
_PEOPLES = ("CLAUDE.md", "CLAUDE.local.md")
_KINDS = {"user": Kind.IDENTITY, "feedback": Kind.PREFERENCE}
# A line of the index: - [Title](file.md) and what it is about.
_LINK = re.compile(r"\[[^\[\]]*+\]\([^()\s]+\.md\)")
# A fact of more is a page: each of its paragraphs is an entry.
_LONGEST_FACT = 1_200


def recognises(files: SourceFiles) -> bool:
    """Whether there is an index and a fact with name and description, or a CLAUDE.md."""
    if any(files.base(name) in _PEOPLES for name in files.names):
        return True
    if not any(files.base(name) == _INDEX for name in files.names):
        return False
    facts = [name for name in files.named(".md") if files.base(name) != _INDEX]
    return any(_is_fact(front_matter(files.head(name))) for name in facts)


def _is_fact(fields: dict[str, str]) -> bool:
    return {"name", "description", "type"} <= fields.keys()


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each fact, and for what the index, CLAUDE.md and pages of topics say."""
    folders = {_folder(name) for name in files.names if files.base(name) == _INDEX}
    for name in files.named(".md"):
        base = files.base(name)
        if base in _PEOPLES:
            text = files.text(name)
            yield from markdown_entries(text, name, kind=Kind.PREFERENCE, trust=Trust.EXPLICIT)
        elif base == _INDEX:
            yield from _index(files.text(name), name)
        elif _folder(name) in folders:
            yield from _page(files.text(name), name)
        else:
            yield Skipped(name, "no page of a memory folder")


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _page(text: str, name: str) -> Iterator[Found]:
    """A fact with front matter, else a page on a topic."""
    if _is_fact(front_matter(text)):
        yield from _fact(text, name)
    else:
        yield from markdown_entries(text, name)


def _index(text: str, name: str) -> Iterator[Found]:
    for found in markdown_entries(text, name):
        if isinstance(found, FoundEntry) and _LINK.search(found.text):
            yield Skipped(found.origin, "a line of the index")
        else:
            yield found


def _fact(text: str, name: str) -> Iterator[Found]:
    fields = front_matter(text)
    kind = _KINDS.get(fields.get("type", ""), Kind.FACT)
    said = [one.text for one in paragraphs(text)]
    whole = " ".join(said)
    if not said:
        said = [fields.get("description", "")]
    elif len(whole) <= _LONGEST_FACT:
        said = [whole]
    yield from left_out_blocks(text, name)
    for number, one in enumerate(said, 1):
        yield FoundEntry(one, name if len(said) == 1 else f"{name}#{number}", kind)


FORMAT = SourceFormat("claude-code", "a memory folder of Claude Code", recognises, read)
