"""A file of the notes as a page shows it: block by block, with what is known of each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.notes import Note, Notes
from pipimem.runtime.drafts import with_newlines
from pipimem.runtime.entry_list import ListedEntry, all_listed
from pipimem.text.markdown.blocks import BlockKind, Document, MarkdownBlock
from pipimem.text.markdown.parser import parsed

_UNSEEN = (BlockKind.BLANK, BlockKind.COMMENT)


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A heading, an entry, or other Markdown, as it may be shown.

    `source` are its lines with `\\n` at their ends; `text` what they say: without the marker of an
    entry or heading. `level` is that of a heading, else 0. `entry` is what is known of it; `None`
    where nothing is.
    """

    kind: Literal["heading", "entry", "text"]
    section: str
    source: str
    text: str
    level: int = 0
    entry: ListedEntry | None = None
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class NoteView:
    """One file: the mark of its exact text, the text as it may be shown, and its blocks.

    `hides` says whether something is hidden in it.
    """

    file: File
    etag: str
    text: str
    blocks: tuple[NoteBlock, ...]
    hides: bool


def note_view(
    notes: Notes,
    file: File,
    now: datetime,
    mask: Callable[[str], str],
    is_pinned: Callable[[str], bool],
) -> NoteView:
    """The view of a file; `mask` takes out what may not be shown."""
    note = notes.note(file)
    shown = mask(note.text)
    document = note.document if shown == note.text else parsed(shown)
    known = dict(zip(note.entries, all_listed(notes, file, now), strict=True))
    by_line = _by_line(note, document)
    blocks = []
    for section in document.sections:
        for block in section.blocks:
            if block.kind in _UNSEEN:
                continue
            entry = by_line.get(block.start) if _is_entry(block) else None
            listed = _masked(known[entry], block, mask) if entry is not None else None
            blocks.append(_block(document, section.title, block, listed, is_pinned))
    return NoteView(file, note.etag, with_newlines(shown), tuple(blocks), shown != note.text)


def _masked(entry: ListedEntry, block: MarkdownBlock, mask: Callable[[str], str]) -> ListedEntry:
    """What is known of an entry, with nothing in it that may not be shown."""
    return replace(
        entry,
        text=block.text,
        section=mask(entry.section),
        speaker=mask(entry.speaker),
        heard_by=tuple(map(mask, entry.heard_by)),
    )


def _is_entry(block: MarkdownBlock) -> bool:
    return block.kind in (BlockKind.ENTRY, BlockKind.PARAGRAPH)


def _by_line(note: Note, document: Document) -> Mapping[int, Entry]:
    """The entries by the line of the shown document on which they begin."""
    if len(note.document.lines) == len(document.lines):
        return {entry.start: entry for entry in note.entries}
    # What is hidden goes over several lines: the entries in which nothing is are known by words.
    by_text = {entry.text: entry for entry in note.entries}
    found = {}
    for section in document.sections:
        for block in section.blocks:
            if _is_entry(block) and block.text in by_text:
                found[block.start] = by_text[block.text]
    return found


def _block(
    document: Document,
    section: str,
    block: MarkdownBlock,
    listed: ListedEntry | None,
    is_pinned: Callable[[str], bool],
) -> NoteBlock:
    source = with_newlines("".join(document.lines[block.start : block.end]))
    if block.kind is BlockKind.HEADING:
        return NoteBlock("heading", section, source, block.text, block.level)
    if block.kind is BlockKind.ENTRY or listed is not None:
        pinned = is_pinned(block.text)
        return NoteBlock("entry", section, source, block.text, entry=listed, is_pinned=pinned)
    return NoteBlock("text", section, source, source)
