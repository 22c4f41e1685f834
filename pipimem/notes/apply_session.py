"""Sections of SESSION.md, replaced; a person's lines stay."""

from __future__ import annotations

from pipimem.notes.apply_draft import AppliedDraft
from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.kinds import section_of, title_for
from pipimem.notes.ledger import Record
from pipimem.notes.note_draft import bullet_text, paragraph_text
from pipimem.notes.notes import Change, Note
from pipimem.notes.operations import SetSection, Trust


def set_section(work: AppliedDraft, op: SetSection) -> str:
    """Replaces the runtime's lines of a section; lines of people stay."""
    draft = work.draft(File.SESSION)
    standard = section_of(op.title)
    title = title_for(standard, draft.titles, work.notes.session.text) if standard else op.title
    plain = standard == "Session Title"
    readable = paragraph_text if plain else bullet_text
    texts = dict.fromkeys(readable(item) for item in op.items)
    texts.pop("", None)
    items = list(texts)
    ours = work.notes.ledger.records.keys()
    # What stands there without a record is a person's, also where an answer repeats it.
    of_people = {_name(work, entry.text) for entry in work.notes.session.entries} - ours
    if draft.fill(title, items, lambda text: _name(work, text) in ours, plain=plain):
        before = [entry.text for entry in work.notes.session.entries if entry.section == title]
        change = Change("section", File.SESSION, title, "\n".join(before), "\n".join(items))
        work.changes.append(change)
        _drop_records(work, title, draft.text())
        for name in (_name(work, text) for text in items):
            if name not in of_people:
                work.records[name] = Record(Trust.INFERRED, kind="session")
    return ""


def _drop_records(work: AppliedDraft, title: str, new_text: str) -> None:
    """Drops the records of the lines that go, or the ledger would grow with every refresh.

    A line that stands in another section as well keeps its record: without it, it would count as
    a person's.
    """
    standing = {entry.id for entry in Note.read(File.SESSION, new_text, work.notes.key).entries}
    for entry in work.notes.session.entries:
        name = f"session:{entry.id}"
        is_dropped = entry.section == title and entry.id not in standing
        if is_dropped and name in work.notes.ledger.records:
            work.records[name] = None


def _name(work: AppliedDraft, text: str) -> str:
    """The name of a line's record; a line of a person has none."""
    return f"session:{content_id(work.notes.key, text)}"
