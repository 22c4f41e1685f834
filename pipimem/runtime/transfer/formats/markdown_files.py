"""Markdown files as other programs write them: front matter, and bullets and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipimem.notes.files import File
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Note
from pipimem.notes.operations import Trust
from pipimem.runtime.transfer.found import FoundEntry, LeftOut

_FIELD = re.compile(r"^\s*([A-Za-z_][\w-]*):(.*)$")
_BLOCK = re.compile(r"[|>][+-]?")
# What templates put where something is to be written.
_PLACEHOLDER = re.compile(r"\([^()]*\)|\*[^*]*\*|_[^_]*_|\*\*[^*]+\*\*:\s*\([^()]*\)")
_EMPTY_BOX = re.compile(r"\[ ?\]\s")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A bullet or paragraph: the heading above it, its text, and its line, from 1.

    `is_below_title`: the heading is that of the whole page.
    """

    section: str
    text: str
    line: int
    is_below_title: bool = False


def front_matter(text: str) -> dict[str, str]:
    """The fields between `---` and `---` at the top, those of inner objects among them."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    fields: dict[str, str] = {}
    name = ""
    for line in lines[1:]:
        if line.strip() in ("---", "..."):
            return fields
        found = _FIELD.match(line)
        if found:
            name, value = found[1], found[2].strip()
            value = "" if _BLOCK.fullmatch(value) else value
            fields[name] = value.strip("\"'")
        elif name and line.strip():
            fields[name] = f"{fields[name]} {line.strip()}".strip()
    return {}


def paragraphs(text: str) -> Iterator[Paragraph]:
    """The bullets and paragraphs, without comments, code, tables and front matter."""
    note = Note.read(File.MEMORY, text, b"")
    headed = [section for section in note.document.sections if section.title]
    title = headed[0].title if headed and headed[0].level == 1 else None
    for entry in note.entries:
        is_below = entry.section == title
        yield Paragraph(entry.section, entry.text.strip(), entry.start + 1, is_below)


def markdown_entries(
    text: str,
    name: str,
    *,
    kind: Kind = Kind.FACT,
    trust: Trust = Trust.INFERRED,
    plain_titles: Mapping[str, Kind] | None = None,
) -> Iterator[FoundEntry | LeftOut]:
    """An entry for each bullet and paragraph, of the kind of its heading.

    A heading that says no kind stands before its text, unless it is one of `plain_titles`, which
    say a kind in the program's own words.
    """
    titles = plain_titles or {}
    for one in paragraphs(text):
        origin = f"{name}:{one.line}"
        if is_placeholder(one.text):
            yield LeftOut(origin, "a placeholder of the template")
            continue
        known = kind_of(one.section) or titles.get(one.section.casefold())
        is_plain = known or one.is_below_title or not one.section
        said = one.text if is_plain else f"{one.section}: {one.text}"
        yield FoundEntry(said, origin, known or kind, trust)


def is_placeholder(text: str) -> bool:
    """Whether a text is what a template says in the place of one."""
    return bool(_PLACEHOLDER.fullmatch(text)) or bool(_EMPTY_BOX.match(text))
