"""The notes of a channel as they stand on disk, read again only where a stamp changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File, etag
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Note, Notes
from pipimem.notes.reconcile import reconciled
from pipimem.store.commit.manual_edits import View
from pipimem.store.disk.editor_saves import may_be_half_saved
from pipimem.store.disk.files import (
    Stamp,
    TextFile,
    read,
    regular_text,
    resolved,
    stamp,
    temporary_for,
)
from pipimem.store.journal.past_texts import past_texts, replaced_by
from pipimem.store.journal.state import State
from pipimem.store.journal.text_versions import NAME_LENGTH, is_text_of
from pipimem.store.merge.forgotten_lines import IncomingText, without_forgotten_lines
from pipimem.store.merge.merge_base import base_before_forgetting, merge_base, takes_lines_out
from pipimem.store.merge.three_way import merged

# Writers that keep on committing leave a pause between two commits sooner or later.
_LOOKS = 20
_ABSENT: Stamp = (0, 0, 0, 0)
# Nanoseconds: ten minutes. A save with nothing but deletions, so long after our newest record, was
# made of our newest text, rather than of a buffer that was loaded before it and is saved over its
# editor's warning.
_OLD_BUFFER = 600 * 10**9


@dataclass(slots=True)
class WorkingCopy:
    """One channel's files and the workspace's shared MEMORY.md, compared with the journal."""

    folder: Path
    root: Path
    key: bytes = field(repr=False)
    state: State
    # What makes notes count as others besides the notes: talk that waits beside the transcript.
    beside: tuple[Path, ...] = ()
    # The archive as it was last looked through for forgotten lines.
    archive_seen: Stamp | None = None
    # Whether the notes that were read last have edits by hand that the journal lacks.
    has_unrecorded_edits: bool = False
    _notes: Notes | None = None
    _stamps: tuple[Stamp | None, ...] = ()
    _files: dict[Path, TextFile] = field(default_factory=dict)
    # By file the notes asked for last, newest first: the current one, and the one of the journal
    # where that is another.
    _parsed: dict[Path, tuple[Note, ...]] = field(default_factory=dict)
    _watched: tuple[Path, ...] = ()
    # By file the text a person saved, the text it is merged with, and what is merged.
    _incoming: dict[File, tuple[str, str, IncomingText]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Joined once: four joins cost more than the four stats of every reading.
        notes = (self.path(file) for file in NOTE_FILES)
        self._watched = (*notes, self._shared, *self.beside)

    def path(self, file: File) -> Path:
        """Where a file of the channel lies."""
        return self.folder / file

    def target(self, file: File) -> Path:
        """The file itself, links followed. Raises `UnreadableNote` for one that leads out."""
        return resolved(self.path(file), self.root)

    def prepared(self, file: File, mark: str) -> Path:
        """Where the text of an etag waits to take its file's place."""
        return temporary_for(self.target(file), mark[:NAME_LENGTH])

    @property
    def _shared(self) -> Path:
        return self.root / File.MEMORY

    @property
    def last_notes(self) -> Notes | None:
        """The notes that were read last, however old."""
        return self._notes

    def unchanged(self) -> Notes | None:
        """Returns the notes that were read last, `None` where the disk has others now."""
        return self._notes if self._look() == self._stamps else None

    def read_notes(self) -> Notes:
        """Returns the notes for reading, without the lock.

        The same object while nothing changed. A file that an editor is saving counts as the journal
        left it.
        """
        for _ in range(_LOOKS):
            stamps = self._look()
            if self._notes is not None and stamps == self._stamps:
                return self._notes
            disk = {file: self._read(self.path(file)) for file in NOTE_FILES}
            self.state.catch_up()
            view = self._view(disk)
            # Another process committed while we read: half of what was read may be from before.
            is_settled = self._look() == stamps
            if is_settled or self._notes is None:
                # A file that an editor is saving is looked at again next time.
                self._notes, self._stamps = view.current, () if view.locked else stamps
                self.has_unrecorded_edits = bool(view.edited)
            if is_settled:
                break
        assert self._notes is not None
        return self._notes

    def fresh_view(self) -> View:
        """Returns the notes for a commit, every file read now. The caller holds the lock."""
        return self._view({file: self.read_now(file) for file in NOTE_FILES})

    def read_now(self, file: File) -> TextFile:
        """Reads a file, whatever its stamp says; one that is absent is empty."""
        self._files.pop(self.path(file), None)
        return self._read(self.path(file))

    def is_locked_by_editor(self, file: File, found: TextFile) -> bool:
        """Whether somebody is, or seems to be, halfway through saving this file."""
        if found.is_open:
            return True
        before = self._base(file, found.text)
        if before == found.text:
            return False
        if self.is_pending(file):
            past = past_texts(self.state, file, is_placed=False)
            before = "".join(next((each.lines for each in past), ()))
        return may_be_half_saved(self.path(file), found.text, before)

    def merged_text(self, file: File, found: TextFile) -> str:
        """Merges the text that stands in a file with the one that the journal left it with.

        The base of the merge is the past text that the person's grew out of.
        """
        base = self._base(file, found.text)
        if base == found.text:
            return base
        incoming = self.incoming_text(file, found.text)
        is_pending = self.is_pending(file)
        if is_pending and self._is_merged(file, incoming, base):
            return base
        past = past_texts(self.state, file, is_placed=not is_pending)
        if incoming.removed:
            return merged(base_before_forgetting(incoming.text, past), base, incoming.text)
        if not is_pending and self._is_plain_deletion(base, incoming.text, found):
            return incoming.text
        return merged(merge_base(incoming.text, past), base, incoming.text)

    def incoming_text(self, file: File, text: str) -> IncomingText:
        """Returns what is merged of a text that a person saved.

        Those are all lines but the forgotten ones that it would bring back.
        """
        base = self._base(file, text)
        if not self.state.ledger.forgotten or text == base:
            return IncomingText(text, text)
        known = self._incoming.get(file)
        if known is None or known[:2] != (text, base):
            known = self._incoming[file] = (text, base, self._cleaned(file, text, base))
        return known[2]

    def _cleaned(self, file: File, text: str, base: str) -> IncomingText:
        past = tuple(past_texts(self.state, file, is_placed=not self.is_pending(file)))
        tombstones = self.state.ledger.tombstones
        incoming = without_forgotten_lines(text, base, past, self.key, tombstones)
        if incoming.removed:
            return incoming
        # Looked at once more after it was merged, its forgotten lines are all that the base has
        # not, as if they were typed anew.
        again = without_forgotten_lines(text, "", past, self.key, tombstones)
        return again if again.removed and self._is_merged(file, again, base) else incoming

    def _is_merged(self, file: File, incoming: IncomingText, base: str) -> bool:
        """Whether the text `base` came by merging this very text of a person's."""
        return etag(incoming.marked) in replaced_by(self.state, file, etag(base))

    def _is_plain_deletion(self, base: str, saved: str, found: TextFile) -> bool:
        """Whether a save only took lines out, ten minutes or more after the last record.

        An older buffer would leave the same text, but an editor that saves one this old has warned
        its user.
        """
        journal = self.state.journal.stamp()
        if journal is None or not takes_lines_out(base, saved):
            return False
        return found.stamp[0] - journal[0] >= _OLD_BUFFER

    def is_pending(self, file: File) -> bool:
        """Whether the newest text of a file still lies prepared, and has not reached it yet."""
        mark = self.state.ledger.etags.get(file)
        if mark is None:
            return False
        path = self.prepared(file, mark)
        # No text there: it arrived. Another text: what it displaced lies there, if it is not
        # damaged.
        return is_text_of(path, mark) or self.is_damaged(file, path)

    def is_damaged(self, file: File, path: Path) -> bool:
        """Whether the text that waits for a file lies at `path`, and no longer as it was written.

        It was not exchanged, so the file still has the text that is to be replaced. What an
        exchange displaced is that very text, most often.
        """
        mark = self.state.ledger.etags.get(file)
        if mark is None or path != self.prepared(file, mark) or not os.path.lexists(path):
            return False
        replaced = replaced_by(self.state, file, mark)
        in_file = etag(self._read(self.path(file)).text)
        if in_file == mark or in_file not in replaced:
            return False
        text = regular_text(path)
        return text is None or etag(text) not in (mark, *replaced)

    def note(self, file: File, text: str) -> Note:
        """The note of a text, parsed anew only when it is another than last time."""
        return self._note(self.path(file), file, text)

    def clear(self) -> None:
        """Forgets what was read."""
        self._notes, self._stamps = None, ()
        self._files.clear()
        self._parsed.clear()
        self._incoming.clear()

    def _look(self) -> tuple[Stamp | None, ...]:
        return (*map(stamp, self._watched), self.state.journal.stamp())

    def _read(self, path: Path) -> TextFile:
        mark = stamp(path)
        cached = self._files.get(path)
        if cached is None or cached.stamp != mark or cached.is_open:
            cached = read(path, self.root) or TextFile("", _ABSENT)
            self._files[path] = cached
        return cached

    def _read_shared(self) -> TextFile:
        """Reads the MEMORY.md that all channels share.

        What is no text counts as empty: it would silence every channel. `pipimem doctor` names it.
        """
        mark = stamp(self._shared)
        try:
            return self._read(self._shared)
        except UnreadableNote:
            # Under the stamp from before the reading: what is saved from now on is read.
            empty = self._files[self._shared] = TextFile("", mark or _ABSENT)
            return empty

    def _view(self, disk: Mapping[File, TextFile]) -> View:
        current: dict[File, Note] = {}
        base: dict[File, Note] = {}
        incoming: dict[File, IncomingText] = {}
        locked: set[File] = set()
        for file, found in disk.items():
            text = self._base(file, found.text)
            if self.is_locked_by_editor(file, found):
                locked.add(file)
                incoming[file], after_merge = IncomingText(text, text), text
            else:
                after_merge = self.merged_text(file, found)
                incoming[file] = self.incoming_text(file, found.text)
            current[file] = self.note(file, after_merge)
            base[file] = current[file] if text == after_merge else self.note(file, text)
        shared = self._note(self._shared, File.MEMORY, self._read_shared().text)
        before, after = self._notes_of(base, shared), self._notes_of(current, shared)
        edited = tuple(
            file for file in disk if base[file] is not current[file] or incoming[file].removed
        )
        delta = reconciled(before, after) if edited else Delta()
        after = replace(after, ledger=after.ledger.after(delta)) if edited else after
        return View(before, after, edited, delta, disk, frozenset(locked), incoming)

    def _notes_of(self, own: Mapping[File, Note], shared: Note) -> Notes:
        session, memory, history = own[File.SESSION], own[File.MEMORY], own[File.HISTORY]
        return Notes(self.key, session, memory, history, shared, self.state.ledger)

    def _note(self, path: Path, file: File, text: str) -> Note:
        kept = self._parsed.get(path, ())
        note = next((note for note in kept if note.text == text), None)
        if note is None:
            note = Note.read(file, text, self.key)
        others = [other for other in kept if other is not note]
        self._parsed[path] = (note, *others[:1])
        return note

    def _base(self, file: File, text: str) -> str:
        """The text the journal left a file with; where none is known the `text` that it has."""
        known = self.state.known_text(file, text)
        return text if known is None else known
