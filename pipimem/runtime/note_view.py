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
from pipimem.runtime.entry_list import ListedEntry, listing
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
    """One file: the mark of its exact text, the text as it may be shown, and a part of its blocks.

    `blocks` are those from the one of number `begin` on, of `total`; `entries` counts the entries
    of all. `hides` says whether something is hidden in the file.
    """

    file: File
    etag: str
    text: str
    blocks: tuple[NoteBlock, ...]
    hides: bool
    begin: int
    total: int
    entries: int


@dataclass(frozen=True, slots=True)
class NoteViewer:
    """Makes views of a file: `shown` is its text as it may be shown, `mask` takes out the rest."""

    notes: Notes
    file: File
    shown: str
    mask: Callable[[str], str]
    is_pinned: Callable[[str], bool]

    def view(self, now: datetime, begin: int, count: int | None) -> NoteView:
        """The blocks from a number on, so many or all."""
        note = self.notes.note(self.file)
        document = note.document if self.shown == note.text else parsed(self.shown)
        visible = [
            (section, block)
            for section in document.sections
            for block in section.blocks
            if block.kind not in _UNSEEN
        ]
        end = len(visible) if count is None else begin + count
        by_line = _by_line(note, document)
        listed = listing(self.notes, self.file, now)
        blocks = []
        for section, block in visible[begin:end]:
            entry = by_line.get(block.start) if _is_entry(block) else None
            known = None if entry is None else _masked(listed(entry), block, self.mask)
            blocks.append(_block(document, section.title, block, known, self.is_pinned))
        return NoteView(
            self.file,
            note.etag,
            with_newlines(self.shown),
            tuple(blocks),
            self.shown != note.text,
            begin,
            len(visible),
            len(note.entries),
        )


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
