"""The notes of a channel as they stand on disk, read again only where a stamp changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Note, Notes, etag
from pipimem.notes.reconciled import reconciled
from pipimem.store.files import Reading, Stamp, read, resolved, stamp, temporary_for
from pipimem.store.journal import Place
from pipimem.store.merging import merged
from pipimem.store.settling import may_be_half_saved
from pipimem.store.state import State
from pipimem.text.splices import reversed_splices, spliced

KEPT = (File.SESSION, File.MEMORY, File.HISTORY)
"""The files that commits replace."""

# Writers that keep on committing leave a pause between two commits sooner or later.
_LOOKS = 20


@dataclass(frozen=True, slots=True)
class View:
    """The notes as the journal left them, as they stand now, and what lies between them: a person's hand."""

    left: Notes
    now: Notes
    edited: tuple[File, ...]
    delta: Delta


@dataclass(slots=True)
class Desk:
    """One channel's files and the workspace's shared MEMORY.md, with the journal's word on them."""

    folder: Path
    root: Path
    key: bytes
    state: State
    _notes: Notes | None = None
    _stamps: tuple[Stamp | Place | None, ...] = ()
    _readings: dict[Path, tuple[Stamp | None, str]] = field(default_factory=dict)
    # Notes by file, as they stand and as the journal left them: equal texts are not parsed again.
    _parsed: dict[tuple[Path, bool], Note] = field(default_factory=dict)
    _watched: tuple[Path, ...] = ()

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
        texts = {file: self._healed(file, text) for file, text in disk.items()}
        held = [file for file, text in texts.items() if self.is_half_saved(file, text)]
        for file in held:
            texts[file] = self._known(file, texts[file])
        return self._view(texts).now, bool(held)

    def fresh(self) -> View:
        """The notes for a commit: every file read now, whatever its stamp says. The caller holds the lock."""
        return self._view({file: self.on_disk(file) for file in KEPT})

    def on_disk(self, file: File) -> str:
        """The text of a file right now; absent is empty."""
        self._readings.pop(self.path(file), None)
        return self._read(self.path(file))

    def is_half_saved(self, file: File, text: str) -> bool:
        """Whether an editor seems to be halfway through saving this file."""
        known = self.state.known_text(file, text)
        return known is not None and may_be_half_saved(self.path(file), text, known)

    def note(self, file: File, text: str) -> Note:
        """The note of a text, parsed anew only when it is another than last time."""
        return self._note(self.path(file), file, text, left=False)

    def put_down(self, notes: Notes, stamps: dict[File, Stamp]) -> None:
        """Takes over what a commit just wrote, so that nothing of it is read back."""
        for file, mark in stamps.items():
            self._readings[self.path(file)] = (mark, notes.note(file).text)
            self._parsed[self.path(file), False] = notes.note(file)
        self._notes = notes
        # The stamps of the readings, not of the disk: a person may have saved since.
        marks = [self._readings.get(self.path(file), (None, ""))[0] for file in KEPT]
        shared = self._readings.get(self._shared, (None, ""))[0]
        self._stamps = (*marks, shared, self.state.place)

    def clear(self) -> None:
        """Forgets what was read."""
        self._notes, self._stamps = None, ()
        self._readings.clear()
        self._parsed.clear()

    def _look(self) -> tuple[Stamp | Place | None, ...]:
        return (*map(stamp, self._watched), self.state.journal.place())

    def _read(self, path: Path) -> str:
        mark = stamp(path)
        cached = self._readings.get(path)
        if cached is None or cached[0] != mark or mark is None:
            reading = read(path, self.root) or Reading("", (0, 0, 0))
            cached = (reading.stamp if mark else None, reading.text)
            self._readings[path] = cached
        return cached[1]

    def _view(self, texts: dict[File, str]) -> View:
        ledger = self.state.ledger
        shared = self._note(self._shared, File.MEMORY, self._read(self._shared), left=False)
        now = {file: self.note(file, text) for file, text in texts.items()}
        left = {}
        for file, note in now.items():
            known = self.state.known_text(file, note.text)
            same = known is None or known == note.text
            left[file] = note if same else self._note(self.path(file), file, known or "", left=True)
        edited = tuple(file for file in KEPT if left[file] is not now[file])
        before = Notes(self.key, left[File.SESSION], left[File.MEMORY], left[File.HISTORY], shared, ledger)
        after = Notes(self.key, now[File.SESSION], now[File.MEMORY], now[File.HISTORY], shared, ledger)
        delta = reconciled(before, after) if edited else Delta()
        return View(before, replace(after, ledger=ledger.after(delta)) if edited else after, edited, delta)

    def _note(self, path: Path, file: File, text: str, *, left: bool) -> Note:
        note = self._parsed.get((path, left))
        if note is None or note.text != text:
            note = Note.read(file, text, self.key, like=note or self._parsed.get((path, not left)))
            self._parsed[path, left] = note
        return note

    def _known(self, file: File, text: str) -> str:
        known = self.state.known_text(file, text)
        return text if known is None else known

    def _healed(self, file: File, text: str) -> str:
        """The text, or what it will be when an acknowledged commit that a crash cut off has reached its
        file."""
        if self.state.known_text(file, text) == text:
            return text
        pending = pending_text(self, file)
        return text if pending is None else merged(pending[0], pending[1], text)


def pending_text(desk: Desk, file: File) -> tuple[str, str] | None:
    """Before and after of a commit that is in the journal but not in its file: its prepared text is still
    there.

    Without that trace, a file that differs from the journal was changed by a person, even back to an older
    text.
    """
    change = desk.state.last.get(file)
    if change is None or desk.state.ledger.etags.get(file) != change.after:
        return None
    try:
        after = prepared_path(desk, file, change.after).read_bytes().decode()
    except (OSError, UnicodeDecodeError):  # not there: the commit arrived
        return None
    if etag(after) != change.after:
        return None
    found = desk.state.versions.text(file, change.found) if change.found else None
    return (spliced(after, reversed_splices(change.splices)) if found is None else found), after


def prepared_path(desk: Desk, file: File, mark: str) -> Path:
    """Where a text waits to take its file's place."""
    return temporary_for(resolved(desk.path(file), desk.root), mark[:16])
