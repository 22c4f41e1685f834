"""A decision while it is carried out: drafts of the files, and what has been done so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.notes.entry import Entry, content_id
from pipimem.notes.files import File
from pipimem.notes.kinds import HEADINGS
from pipimem.notes.ledger import Loss, Record, Tombstone
from pipimem.notes.notes import Change, Note, Notes, Refusal
from pipimem.notes.operations import Bullet, Target, Trust
from pipimem.notes.sections import Draft, bullet_text
from pipimem.notes.session import SECTIONS

# Twenty sources say enough; the newest are kept, for they are what a person would look up.
MOST_SOURCES = 20
_FRESH = {File.MEMORY: "# Memory", File.SESSION: "# Session", File.HISTORY: "# History"}
_ORDER = {
    File.MEMORY: tuple(headings[0] for headings in HEADINGS.values()),
    File.SESSION: tuple(SECTIONS),
    File.HISTORY: (),
}


@dataclass(slots=True)
class Work:
    """What the operations of one decision share."""

    notes: Notes
    now: datetime
    refused: list[Refusal]
    drafts: dict[File, Draft] = field(default_factory=dict)
    taken: set[Target] = field(default_factory=set)
    records: dict[str, Record | None] = field(default_factory=dict)
    tombstones: dict[str, Tombstone | None] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    archived: str = ""

    def draft(self, file: File) -> Draft:
        """The file as it will be."""
        if file not in self.drafts:
            self.drafts[file] = Draft(self.notes.note(file).document, _FRESH[file], _ORDER[file])
        return self.drafts[file]

    def take(self, target: Target) -> Entry | None:
        """The entry of a target, once: two operations cannot both have it."""
        entry = None if target in self.taken else self.notes.find(target)
        if entry:
            self.taken.add(target)
        return entry

    def note_bullets(self, bullets: Sequence[Bullet], when: datetime | None) -> None:
        """Records of history's bullets: which messages they rest on."""
        stamp = when.isoformat(timespec="seconds") if when else ""
        for bullet in bullets:
            name = content_id(self.notes.key, bullet_text(bullet.text))
            sources = bullet.sources[-MOST_SOURCES:]
            self.records[f"history:{name}"] = Record(Trust.INFERRED, "history", sources, when=stamp)


def lines_of(note: Note, start: int, end: int) -> str:
    """Lines of a note word for word, the last one ended."""
    text = "".join(note.document.lines[start:end])
    return text if text.endswith(("\n", "\r")) else text + note.document.eol
