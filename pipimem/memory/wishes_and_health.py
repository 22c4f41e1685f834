"""Wishes: of one person the newest on a subject replaces the older."""

from __future__ import annotations

from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.text.quotes import words_said
from pipimem.text.talk.personal import wish_subject


def older_wishes(notes: Notes, text: str, speaker: str) -> list[Target]:
    """Return the wishes of a speaker on the subject of a newer wish.

    What a person typed into the file is that person's to change, and a wish whose subject is not
    known ends none.
    """
    said = words_said(text)
    subject = wish_subject(said)
    if not subject:
        return []
    found: list[Target] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is None or record.trust in (Trust.HUMAN, Trust.QUOTED):
            continue
        is_own_wish = kind_of(entry.section) is Kind.WISH and record.speaker == speaker
        older = words_said(entry.text)
        if is_own_wish and older.casefold() != said.casefold() and wish_subject(older) == subject:
            found.append(entry.target)
    return found
