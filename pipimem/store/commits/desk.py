"""The notes of a channel as they stand on disk, read again only where a stamp changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Note, Notes, etag
from pipimem.notes.reconciled import reconciled
from pipimem.store.commits.forgotten_lines import Save, cleaned
from pipimem.store.commits.merge_base import merge_base, takes_lines_out
from pipimem.store.commits.merging import merged
from pipimem.store.commits.settling import may_be_half_saved
from pipimem.store.disk.files import (
    Reading,
    Stamp,
    is_regular,
    own_text,
    read,
    resolved,
    stamp,
    temporary_for,
)
from pipimem.store.journal.state import State
from pipimem.store.journal.versions import NAME_LENGTH

KEPT = (File.SESSION, File.MEMORY, File.HISTORY)
"""The files that commits replace."""

# Writers that keep on committing leave a pause between two commits sooner or later.
_LOOKS = 20
_ABSENT: Stamp = (0, 0, 0, 0)
# Nanoseconds: ten minutes. A save with nothing but deletions, so long after our newest record, was made of our newest
# text, rather than of a buffer that was loaded before it and is saved over its editor's warning.
_OLD_BUFFER = 600 * 10**9


@dataclass(frozen=True, slots=True)
class View:
    """The notes as the journal left them, as they stand now, and what lies between them: a person's hand.

    `disk` has the readings it rests on, `saves` what of them is merged. A file in `held` is being written by somebody:
    it counts as it was left.
    """

    left: Notes
    now: Notes
    edited: tuple[File, ...]
    delta: Delta
    disk: Mapping[File, Reading]
    held: frozenset[File]
    saves: Mapping[File, Save]

    def stands(self, file: File) -> bool:
        """Whether the text of a file, as it stands now in these notes, is also what lies on the disk."""
        return file not in self.held and self.disk[file].text == self.now.note(file).text


@dataclass(slots=True)
class Desk:
    """One channel's files and the workspace's shared MEMORY.md, with the journal's word on them."""

    folder: Path
    root: Path
    key: bytes
    state: State
    # The archive as it was last looked through for forgotten lines.
    archive_seen: Stamp | None = None
    _notes: Notes | None = None
    _stamps: tuple[Stamp | None, ...] = ()
    _readings: dict[Path, Reading] = field(default_factory=dict)
    # By file the notes asked for last, newest first: what stands, and what the journal left where that is another.
    _parsed: dict[Path, tuple[Note, ...]] = field(default_factory=dict)
    _watched: tuple[Path, ...] = ()
    # By file the text a person saved, the text it is merged with, and what is merged.
    _saves: dict[File, tuple[str, str, Save]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Joined once: four joins cost more than the four stats of every reading.
        self._watched = (*(self.path(file) for file in KEPT), self._shared)

    def path(self, file: File) -> Path:
        """Where a file of the channel lies."""
        return self.folder / file

    @property
    def _shared(self) -> Path:
        return self.root / File.MEMORY

    @property
    def cached(self) -> Notes | None:
        """The notes as last shown."""
        return self._notes

    def unchanged(self) -> Notes | None:
        """The notes as last shown, `None` where the disk has others now."""
        return self._notes if self._notes is not None and self._look() == self._stamps else None

    def shown(self) -> Notes:
        """The notes for reading.

        The same object while nothing changed, an editor's half-saved file held back.
        """
        for _ in range(_LOOKS):
            stamps = self._look()
            if self._notes is not None and stamps == self._stamps:
                break
            notes, is_held = self._looked_at()
            # Another process committed while we read: half of what was read may be from before.
            is_settled = self._look() == stamps
            if is_settled or self._notes is None:
                # A text that is held back is looked at again next time.
                self._notes, self._stamps = notes, () if is_held else stamps
            if is_settled:
                break
        assert self._notes is not None
        return self._notes

    def _looked_at(self) -> tuple[Notes, bool]:
        """The notes of this moment, and whether an editor's half-saved file was held back."""
        disk = {file: self._read(self.path(file)) for file in KEPT}
        self.state.catch_up()
        view = self._view(disk)
        return view.now, bool(view.held)

    def fresh(self) -> View:
        """The notes for a commit: every file read now, whatever its stamp says. The caller holds the lock."""
        return self._view({file: self.look(file) for file in KEPT})

    def look(self, file: File) -> Reading:
        """A file as it is right now; absent is empty."""
        self._readings.pop(self.path(file), None)
        return self._read(self.path(file))

    def on_disk(self, file: File) -> str:
        """The text of a file right now; absent is empty."""
        return self.look(file).text

    def is_held(self, file: File, reading: Reading) -> bool:
        """Whether somebody is, or seems to be, halfway through saving this file."""
        if reading.is_open:
            return True
        left = self._known(file, reading.text)
        if left == reading.text:
            return False
        if self.is_pending(file):
            past = self.state.past_texts(file, is_placed=False)
            left = "".join(next((each.lines for each in past), ()))
        return may_be_half_saved(self.path(file), reading.text, left)

    def taken_in(self, file: File, reading: Reading) -> str:
        """What the text of a file makes of the text the journal left it with.

        That one where nobody changed anything; else merged from the text the person's grew out of.
        """
        left = self._known(file, reading.text)
        if left == reading.text:
            return left
        save = self.save_of(file, reading.text)
        is_pending = self.is_pending(file)
        if is_pending and etag(save.marked) in self.state.replaced_by(file, etag(left)):
            return left
        if not is_pending and self._is_plain_deletion(left, save.text, reading):
            return save.text
        past = self.state.past_texts(file, is_placed=not is_pending)
        return merged(merge_base(save.text, past), left, save.text)

    def save_of(self, file: File, text: str) -> Save:
        """What is merged of a text that a person saved: all but the forgotten lines that it would bring back."""
        left = self._known(file, text)
        if not self.state.ledger.forgotten or text == left:
            return Save(text, text)
        known = self._saves.get(file)
        if known is None or known[:2] != (text, left):
            known = self._saves[file] = (text, left, self._cleaned(file, text, left))
        return known[2]

    def _cleaned(self, file: File, text: str, left: str) -> Save:
        past = tuple(self.state.past_texts(file, is_placed=not self.is_pending(file)))
        save = cleaned(text, left, past, self.key, self.state.ledger.tombstones)
        if save.taken_out:
            return save
        # Looked at once more after it was merged, its forgotten lines are all that `left` has not: as if typed anew.
        before = cleaned(text, "", past, self.key, self.state.ledger.tombstones)
        is_merged = etag(before.marked) in self.state.replaced_by(file, etag(left))
        return before if before.taken_out and is_merged else save

    def _is_plain_deletion(self, left: str, saved: str, reading: Reading) -> bool:
        """Whether a save only took lines out of the text the journal left, long after the journal's last record.

        An older buffer would leave the same text, but an editor that saves one this old has warned its user.
        """
        journal = self.state.journal.stamp()
        if journal is None or not takes_lines_out(left, saved):
            return False
        return reading.stamp[0] - journal[0] >= _OLD_BUFFER

    def is_pending(self, file: File) -> bool:
        """Whether the text the journal left a file with has not reached it yet: it still lies prepared."""
        mark = self.state.ledger.etags.get(file)
        if mark is None:
            return False
        path = prepared_path(self, file, mark)
        # No text there: it arrived. Another text: what it displaced lies there, if it is not damaged.
        return is_text_of(path, mark) or self.is_damaged(file, path)

    def is_damaged(self, file: File, path: Path) -> bool:
        """Whether what lies at `path` is the text that waits for a file, and no longer as it was written.

        It was not exchanged, so nobody saved it: the file still has the text that is to be replaced. What an exchange
        displaced is that very text, most often.
        """
        mark = self.state.ledger.etags.get(file)
        if mark is None or path != prepared_path(self, file, mark) or not os.path.lexists(path):
            return False
        replaced = self.state.replaced_by(file, mark)
        standing = etag(self._read(self.path(file)).text)
        if standing == mark or standing not in replaced:
            return False
        text = own_text(path) if is_regular(path) else None
        return text is None or etag(text) not in (mark, *replaced)

    def is_made_of_newest(self, file: File, text: str) -> bool:
        """Whether a text was made of the one that the journal left the file with."""
        newest = self.state.known_text(file, "")
        return merge_base(text, self.state.past_texts(file)) == newest

    def note(self, file: File, text: str) -> Note:
        """The note of a text, parsed anew only when it is another than last time."""
        return self._note(self.path(file), file, text)

    def clear(self) -> None:
        """Forgets what was read."""
        self._notes, self._stamps = None, ()
        self._readings.clear()
        self._parsed.clear()
        self._saves.clear()

    def _look(self) -> tuple[Stamp | None, ...]:
        return (*map(stamp, self._watched), self.state.journal.stamp())

    def _read(self, path: Path) -> Reading:
        mark = stamp(path)
        cached = self._readings.get(path)
        if cached is None or cached.stamp != mark or cached.is_open:
            cached = read(path, self.root) or Reading("", _ABSENT)
            self._readings[path] = cached
        return cached

    def _read_shared(self) -> Reading:
        """What all channels share. What is no text is left out: it would silence every channel; `doctor` tells."""
        mark = stamp(self._shared)
        try:
            return self._read(self._shared)
        except UnreadableNote:
            # Under the stamp from before the reading: what is saved from now on is read.
            empty = self._readings[self._shared] = Reading("", mark or _ABSENT)
            return empty

    def _view(self, disk: Mapping[File, Reading]) -> View:
        ledger = self.state.ledger
        shared = self._note(self._shared, File.MEMORY, self._read_shared().text)
        held = frozenset(file for file, reading in disk.items() if self.is_held(file, reading))
        now, left, saves = {}, {}, {}
        for file, reading in disk.items():
            known = self._known(file, reading.text)
            now[file] = self.note(file, known if file in held else self.taken_in(file, reading))
            same = known == now[file].text
            left[file] = now[file] if same else self.note(file, known)
            saves[file] = self.save_of(file, known if file in held else reading.text)
        edited = tuple(
            file for file in KEPT if left[file] is not now[file] or saves[file].taken_out
        )
        before = Notes(
            self.key, left[File.SESSION], left[File.MEMORY], left[File.HISTORY], shared, ledger
        )
        after = Notes(
            self.key, now[File.SESSION], now[File.MEMORY], now[File.HISTORY], shared, ledger
        )
        delta = reconciled(before, after) if edited else Delta()
        after = replace(after, ledger=ledger.after(delta)) if edited else after
        return View(before, after, edited, delta, disk, held, saves)

    def _note(self, path: Path, file: File, text: str) -> Note:
        kept = self._parsed.get(path, ())
        note = next((note for note in kept if note.text == text), None) or Note.read(
            file, text, self.key
        )
        others = [other for other in kept if other is not note]
        self._parsed[path] = (note, *others[:1])
        return note

    def _known(self, file: File, text: str) -> str:
        known = self.state.known_text(file, text)
        return text if known is None else known


def is_text_of(path: Path, mark: str) -> bool:
    """Whether a file of ours lies there with the text of an etag, or of one that begins so."""
    text = own_text(path) if is_regular(path) else None
    return text is not None and etag(text).startswith(mark)


def prepared_path(desk: Desk, file: File, mark: str) -> Path:
    """Where a text waits to take its file's place."""
    return temporary_for(resolved(desk.path(file), desk.root), mark[:NAME_LENGTH])
