"""Markdown files as other programs write them: front matter, and bullets and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b

from msgspec import Struct

from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.notes import Note
from pipimem.notes.operations import Trust
from pipimem.runtime.transfer.found import FoundEntry, Skipped
from pipimem.text.markdown.parser import BlockKind, parsed

_FIELD = re.compile(r"^\s*([A-Za-z_][\w-]*):(.*)$")
_BLOCK = re.compile(r"[|>][+-]?")
_EMPTY_BOXES = ("[ ]", "[]")
# Blocks that have words and are no entries.
_NO_ENTRIES = {BlockKind.TABLE: "a table", BlockKind.CODE: "code", BlockKind.HTML: "HTML"}
_TO_DO, _DONE = ("[ ] ", "[] "), ("[x] ", "[X] ")


class Paragraph(Struct, frozen=True):
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
    """Yield the bullets and paragraphs.

    Comments, code, tables, front matter and empty boxes are left out.
    """
    note = Note.read(File.MEMORY, text, b"")
    headed = [section for section in note.document.sections if section.title]
    title = headed[0].title if headed and headed[0].level == 1 else None
    for entry in note.entries:
        is_below, text = entry.section == title, entry.text.strip()
        if text not in _EMPTY_BOXES:
            yield Paragraph(entry.section, text, entry.start + 1, is_below)


def left_out_blocks(text: str, name: str) -> Iterator[Skipped]:
    """Yield a note of each table, block of code and block of HTML, which become no entries."""
    for section in parsed(text).sections:
        for block in section.blocks:
            if block.kind in _NO_ENTRIES:
                yield Skipped(f"{name}:{block.start + 1}", _NO_ENTRIES[block.kind])


def markdown_entries(
    text: str,
    name: str,
    *,
    kind: Kind = Kind.FACT,
    trust: Trust = Trust.INFERRED,
    plain_titles: Mapping[str, Kind] | None = None,
    template: Collection[str] = (),
) -> Iterator[FoundEntry | Skipped]:
    """Yield an entry for each bullet and paragraph, of the kind of its heading.

    A heading that names no kind is put before the text, unless it is one of `plain_titles`, which
    name a kind in the program's own words. `template` has the marks of the texts of the file as the
    program creates it: these are left out.
    """
    yield from left_out_blocks(text, name)
    titles = plain_titles or {}
    for one in paragraphs(text):
        origin = f"{name}:{one.line}"
        if template_mark(one.text) in template:
            yield Skipped(origin, "a text of the program's template")
            continue
        known = kind_of(one.section) or titles.get(one.section.casefold())
        is_plain = known or one.is_below_title or not one.section
        said = one.text if is_plain else f"{one.section}: {one.text}"
        yield FoundEntry(said, origin, kind_of_item(one.text, known or kind), trust)


def template_mark(text: str) -> str:
    """Return the mark of a text of a program's template: eight digits of its BLAKE2 hash.

    The sentences are other projects' own, so that formats name their marks.
    """
    return blake2b(text.encode(), digest_size=4).hexdigest()


def kind_of_item(text: str, kind: Kind) -> Kind:
    """Return the kind of a bullet: an unticked box is an open loop, and a ticked one is not."""
    if text.startswith(_TO_DO):
        return Kind.OPEN_LOOP
    return Kind.FACT if kind is Kind.OPEN_LOOP and text.startswith(_DONE) else kind
