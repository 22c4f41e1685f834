"""The notes of a channel as they stand on disk, read again only where a stamp changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Delta, Ledger
from pipimem.notes.notes import Note, Notes
from pipimem.notes.reconcile import reconciled
from pipimem.state.channel_state import ChannelState
from pipimem.state.texts import PastText
from pipimem.store.commit.manual_edits import View
from pipimem.store.disk.editor_saves import may_be_half_saved
from pipimem.store.disk.files import (
    Stamp,
    TextFile,
    read,
    regular_text,
    resolved,
    stamp_of_note,
    temporary_for,
)
from pipimem.store.merge.forgotten_lines import IncomingText, without_forgotten_lines
from pipimem.store.merge.merge_base import merge_base, takes_lines_out
from pipimem.store.merge.three_way import has_conflict, merged

_log = logging.getLogger("pipimem")

# Writers that keep on committing leave a pause between two commits sooner or later.
_LOOKS = 20
_ABSENT: Stamp = (0, 0, 0, 0)
# Nanoseconds: ten minutes. A save with nothing but deletions, so long after our newest change, was
# made of our newest text, rather than of a buffer that was loaded before it and is saved over its
# editor's warning.
_OLD_BUFFER = 600 * 10**9


class UnreadableFile(Struct, frozen=True):
    """A note that is no text, and why; so many changes wait for it.

    `has_good_text` is whether a text is known that it had before: that one serves.
    """

    problem: str
    waiting: int
    has_good_text: bool

    @property
    def sentence(self) -> str:
        """The problem with what serves, and what waits."""
        serves = "The text that the state knows of it serves"
        if not self.has_good_text:
            serves = "No earlier text of it is known, so it counts as empty"
        waits = "; what is remembered waits"
        if self.waiting:
            changes = "1 change waits" if self.waiting == 1 else f"{self.waiting} changes wait"
            waits = f"; {changes}"
        return f"{self.problem} {serves}{waits} for the file."


@dataclass(slots=True)
class WorkingCopy:
    """One channel's files and the workspace's shared MEMORY.md, compared with its state."""

    folder: Path
    root: Path
    key: bytes = field(repr=False)
    state: ChannelState
    # Whether a host gave the channel the kind `dm`.
    is_dm: bool = False
    # Who spoke in this process; the ledger has those whose words were consolidated.
    heard: set[str] = field(default_factory=set)
    # What makes notes count as others besides the notes: talk that waits beside the transcript.
    beside: tuple[Path, ...] = ()
    # Has the file system look anew at what other hosts wrote in the folder; `None` on one host.
    revalidate: Callable[[Path], None] | None = None
    # By the etag of a text the tag in the name under which an older pipimem prepared it.
    old_tags: Mapping[str, str] = field(default_factory=dict)
    # The archive as it was last looked through for forgotten lines.
    archive_seen: Stamp | None = None
    # Whether the notes that were read last have edits by hand that no change has.
    has_unrecorded_edits: bool = False
    _notes: Notes | None = None
    _stamps: tuple[tuple[int, ...] | None, ...] = ()
    _files: dict[Path, TextFile] = field(default_factory=dict)
    # By file the notes asked for last, newest first: the current one, and the one of the
    # newest change where that is another.
    _parsed: dict[Path, tuple[Note, ...]] = field(default_factory=dict)
    _watched: tuple[Path, ...] = ()
    # By file why it is no text, as it was logged last.
    _reported: dict[File, str] = field(default_factory=dict)

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

    def prepared(self, file: File, etag: str) -> Path:
        """Where the text of an etag waits to take its file's place."""
        path = temporary_for(self.target(file), etag)
        if etag in self.old_tags and not os.path.lexists(path):
            return temporary_for(self.target(file), self.old_tags[etag])
        return path

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

        The same object while nothing changed. A file that an editor is saving counts as the
        newest change left it.
        """
        for _ in range(_LOOKS):
            stamps = self._look()
            if self._notes is not None and stamps == self._stamps:
                return self._notes
            disk = {file: self._read_note(file) for file in NOTE_FILES}
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
        """Read a file, whatever its stamp says; one that is absent is empty."""
        self._files.pop(self.path(file), None)
        return self._read_note(file)

    @property
    def unreadable(self) -> dict[File, UnreadableFile]:
        """The files that were no text when they were read last; what is written waits for them."""
        read = {file: self._files.get(self.path(file)) for file in NOTE_FILES}
        return {
            file: UnreadableFile(
                found.problem,
                self._count_waiting(file),
                self.state.known_text(file, "") is not None,
            )
            for file, found in read.items()
            if found and found.problem
        }

    def _count_waiting(self, file: File) -> int:
        """Return how many changes wait for a file; 0 where it has the newest text."""
        try:
            return 1 + self.state.count_unplaced(file) if self.is_pending(file) else 0
        except UnreadableNote:  # a link that leads out: nothing is prepared there
            return 0

    def _read_note(self, file: File) -> TextFile:
        """Read a note; of one that is no text the newest text that was known counts."""
        path = self.path(file)
        mark = stamp_of_note(path)
        try:
            found = self._read(path)
        except UnreadableNote as error:
            problem = str(error)
        else:
            if found.problem or not has_conflict(found.text):
                return found
            problem = (
                f"{path} has a conflict that git left in it. Nothing is written into it: settle "
                "the conflict and save."
            )
        if self._reported.get(file) != problem:
            self._reported[file] = problem
            _log.warning("%s What is known of it serves meanwhile; changes wait for it.", problem)
        known = self.state.known_text(file, "") or ""
        found = self._files[path] = TextFile(known, mark or _ABSENT, is_open=True, problem=problem)
        return found

    def is_locked_by_editor(self, file: File, found: TextFile) -> bool:
        """Whether somebody is, or seems to be, halfway through saving this file, or it is no text.

        Then it counts as the newest change left it.
        """
        if found.is_open:
            return True
        before = self._base(file, found.text)
        if before == found.text:
            return False
        if self.is_pending(file):
            before = self.state.text_before(file)
        return may_be_half_saved(self.path(file), found.text, before)

    def merged_text(self, file: File, found: TextFile, incoming: IncomingText) -> str:
        """Merge the text that stands in a file with the one that the newest change left there.

        `incoming` is what `incoming_text` returned of it. The base of the merge is the past text
        that the person's grew out of.
        """
        base = self._base(file, found.text)
        if base == found.text:
            return base
        is_pending = self.is_pending(file)
        if is_pending and self.is_merged(file, found.text):
            return base
        is_older = is_pending or incoming.removed > 0
        if not is_older and self._is_plain_deletion(base, incoming.text, found):
            return incoming.text
        past = self.state.past_texts(file, is_placed=not is_pending)
        return merged(self.base_of(incoming, past), base, incoming.text)

    def base_of(self, incoming: IncomingText, past: Sequence[PastText]) -> str:
        """Return the past text that a person's text was made of.

        One that had forgotten lines was made before the forgetting: where it equals a past text
        now, nobody restored that, and what came since is not taken out by it.
        """
        line, may_restore = self.state.line, incoming.removed == 0
        return merge_base(incoming.text, past, line, may_restore=may_restore)

    def incoming_text(self, file: File, found: TextFile) -> IncomingText:
        """Return what is merged of a text that a person saved: no line that was forgotten."""
        forgotten = self.state.forgotten_lines
        base = self._base(file, found.text)
        if not forgotten or found.text == base:
            return IncomingText(found.text)
        return without_forgotten_lines(found.text, found.stamp[0], base, self.key, forgotten)

    def is_merged(self, file: File, text: str, etag: str = "") -> bool:
        """Whether a text is what the text of an etag takes the place of.

        By default that is the text that the newest change left.
        """
        etag = etag or self.state.heads.get(file, "")
        return self.state.etag(text) in self.state.displaced_by(file, etag)

    def _is_plain_deletion(self, base: str, saved: str, found: TextFile) -> bool:
        """Whether a save only took lines out, ten minutes or more after the newest change.

        An older buffer would leave the same text, but an editor that saves one this old has warned
        its user.
        """
        stamp = self.state.database.stamp()
        if stamp is None or not takes_lines_out(base, saved):
            return False
        return found.stamp[0] - stamp[0] >= _OLD_BUFFER

    def is_pending(self, file: File) -> bool:
        """Whether the newest text of a file still lies prepared, and has not reached it yet."""
        etag = self.state.heads.get(file)
        if etag is None:
            return False
        path = self.prepared(file, etag)
        if not os.path.lexists(path):
            return False
        # Another text lies there: what it displaced, if it is not damaged.
        return self.has_text_of(path, etag) or self.is_damaged(file, path)

    def has_text_of(self, path: Path, etag: str) -> bool:
        """Whether the text of an etag lies at a path."""
        text = regular_text(path)
        return text is not None and self.state.etag(text) == etag

    def is_damaged(self, file: File, path: Path) -> bool:
        """Whether the text that waits for a file lies at `path`, and no longer as it was written.

        It was not exchanged, so the file still has the text that is to be replaced. What an
        exchange displaced is that very text, most often.
        """
        etag = self.state.heads.get(file)
        if etag is None or path != self.prepared(file, etag) or not os.path.lexists(path):
            return False
        replaced = self.state.displaced_by(file, etag)
        in_file = self.state.etag(self._read_note(file).text)
        if in_file == etag or in_file not in replaced:
            return False
        text = regular_text(path)
        return text is None or self.state.etag(text) not in (etag, *replaced)

    def note(self, file: File, text: str) -> Note:
        """The note of a text, parsed anew only when it is another than last time."""
        return self._note(self.path(file), file, text)

    def hear(self, speakers: Iterable[str]) -> None:
        """Count people among those who speak, before the ledger has them."""
        self.heard.update(speakers)
        notes = self._notes
        if notes is not None and notes.is_dm and self._has_several(notes.ledger):
            self._notes, self._stamps = None, ()

    def clear(self) -> None:
        """Forgets what was read."""
        self._notes, self._stamps = None, ()
        self._files.clear()
        self._parsed.clear()

    def _look(self) -> tuple[tuple[int, ...] | None, ...]:
        state = self.state.stamp()
        if self.revalidate is not None and (not self._stamps or state != self._stamps[-1]):
            self.revalidate(self.folder)
        return (*map(stamp_of_note, self._watched), state)

    def _read(self, path: Path) -> TextFile:
        mark = stamp_of_note(path)
        cached = self._files.get(path)
        if cached is None or cached.stamp != mark or (cached.is_open and not cached.problem):
            cached = read(path, self.root) or TextFile("", _ABSENT)
            self._files[path] = cached
        return cached

    def _read_shared(self) -> TextFile:
        """Reads the MEMORY.md that all channels share.

        What is no text counts as empty: it would silence every channel. `pipimem doctor` names it.
        """
        mark = stamp_of_note(self._shared)
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
                incoming[file], after_merge = IncomingText(text), text
            else:
                incoming[file] = self.incoming_text(file, found)
                after_merge = self.merged_text(file, found, incoming[file])
            # The newest last: with the next edit it is the base.
            base[file] = self.note(file, text)
            current[file] = base[file] if text == after_merge else self.note(file, after_merge)
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
        ledger = self.state.ledger
        is_dm = self.is_dm and not self._has_several(ledger)
        return Notes(self.key, session, memory, history, shared, ledger, is_dm, self.state.left_out)

    def _has_several(self, ledger: Ledger) -> bool:
        """Whether several people speak, by the ledger and by what was heard since."""
        return len({*ledger.speakers, *self.heard} - {""}) > 1

    def _note(self, path: Path, file: File, text: str) -> Note:
        kept = self._parsed.get(path, ())
        note = next((note for note in kept if note.text == text), None)
        if note is None:
            note = Note.read(file, text, self.key)
        others = [other for other in kept if other is not note]
        self._parsed[path] = (note, *others[:1])
        return note

    def newest_text(self, file: File) -> str:
        """Return the text the newest change left a file with; if none is known what it has."""
        return self._base(file, self._read_note(file).text)

    def _base(self, file: File, text: str) -> str:
        """The text the newest change left a file with; if none is known the `text` it has."""
        known = self.state.known_text(file, text)
        return text if known is None else known
