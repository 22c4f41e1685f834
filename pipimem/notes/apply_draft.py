"""A decision while it is carried out: drafts of the files, and what has been done so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.headings import HEADINGS, SECTIONS
from pipimem.notes.ledger import Loss, Record, Tombstone
from pipimem.notes.note_draft import Draft
from pipimem.notes.notes import Note, Notes, Refusal
from pipimem.notes.operations import Change, Target
from pipimem.text.han import is_chinese

# Twenty sources say enough; the newest are kept, for they are what a person would look up.
MOST_SOURCES = 20
_FRESH = {
    File.MEMORY: ("# Memory", "# 记忆"),
    File.SESSION: ("# Session", "# 会话"),
    File.HISTORY: ("# History", "# 历史"),
}
_ORDER = {
    File.MEMORY: {name: place for place, names in enumerate(HEADINGS.values()) for name in names},
    File.SESSION: {name: place for place, names in enumerate(SECTIONS.values()) for name in names},
    File.HISTORY: {},
}


@dataclass(slots=True)
class AppliedDraft:
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
    speakers: list[str] = field(default_factory=list)
    archived: str = ""

    def add_speakers(self, names: Iterable[str]) -> None:
        """Adds who has not spoken before to the speakers of the channel."""
        fresh = (name for name in dict.fromkeys(names) if name and name not in self.speakers)
        self.speakers.extend(fresh)

    def draft(self, file: File) -> Draft:
        """The file as it will be."""
        if file not in self.drafts:
            fresh = _FRESH[file]
            others = self.headings_beside(file)
            if others:
                fresh = (fresh[is_chinese(others)],) * 2
            self.drafts[file] = Draft(self.notes.note(file).document, fresh, _ORDER[file])
        return self.drafts[file]

    def said_in(self, file: File, text: str) -> str:
        """What decides in which language a file's headings are: its own text, where it has entries.

        A new file follows the headings of the channel's others; without any, the `text` to write.
        """
        note = self.notes.note(file)
        return note.text if note.entries else self.headings_beside(file) or text

    def headings_beside(self, file: File) -> str:
        """The standard headings of the channel's other files, those to be written included."""
        found: list[str] = []
        for other in _ORDER.keys() - {file}:
            draft = self.drafts.get(other)
            sections = self.notes.note(other).document.sections
            titles = draft.titles if draft else [section.title for section in sections]
            found += [title for title in titles if title in _ORDER[other]]
        return " ".join(found)

    def take(self, *targets: Target) -> list[Entry]:
        """The entries of the targets; empty if one is not there or another operation has it."""
        wanted = dict.fromkeys(targets)
        found = [self.notes.find(target) for target in wanted if target not in self.taken]
        entries = [entry for entry in found if entry is not None]
        if len(entries) < len(wanted):
            return []
        self.taken.update(wanted)
        return entries


def lines_of(note: Note, start: int, end: int) -> str:
    """Lines of a note word for word, the last one ended."""
    text = "".join(note.document.lines[start:end])
    return text if text.endswith(("\n", "\r")) else text + note.document.eol
