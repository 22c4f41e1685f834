"""Sections of SESSION.md, replaced; a person's lines stay."""

from __future__ import annotations

from pipimem.notes.carried_out.work import Work
from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Change, Note
from pipimem.notes.operations import SetSection, Trust
from pipimem.notes.sections import bullet_text, paragraph_text
from pipimem.notes.session import section_of, title_for


def set_section(work: Work, op: SetSection) -> str:
    """The runtime's lines of a section, replaced."""
    draft = work.draft(File.SESSION)
    standard = section_of(op.title)
    title = title_for(standard, draft.titles) if standard else op.title
    plain = standard == "Session Title"
    readable = paragraph_text if plain else bullet_text
    items = list(dict.fromkeys(text for item in op.items if (text := readable(item))))
    before = "\n".join(entry.text for entry in work.notes.session.entries if entry.section == title)
    names = {content_id(work.notes.key, text) for text in items}
    if draft.fill(title, items, lambda text: _wrote(work, text), plain=plain):
        work.changes.append(Change("section", File.SESSION, title, before, "\n".join(items)))
        _forget_lines(work, title, draft.text())
        work.records |= {
            f"session:{name}": Record(Trust.INFERRED, kind="session") for name in names
        }
    return ""


def _forget_lines(work: Work, title: str, left: str) -> None:
    """Records of the lines that go: without this the ledger would grow with every refresh.

    A line that stands in another section as well keeps its record, or it would count as a person's for ever.
    """
    standing = {entry.id for entry in Note.read(File.SESSION, left, work.notes.key).entries}
    gone = (
        entry.id
        for entry in work.notes.session.entries
        if entry.section == title and entry.id not in standing
    )
    work.records |= {
        name: None for each in gone if (name := f"session:{each}") in work.notes.ledger.records
    }


def _wrote(work: Work, text: str) -> bool:
    """Whether a line of SESSION.md is the runtime's own: a person's line has no record."""
    return f"session:{content_id(work.notes.key, text)}" in work.notes.ledger.records
