"""What a person edits of the notes, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.notes.files import File


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """One entry of a file as a page showed it: its section, its id, its lines as it showed them."""

    file: File
    section: str
    id: str
    source: str


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A file was saved: the number of the change in the log, and the mark of the text.

    `hides` says that a secret or private stretch of the draft was not written.
    """

    number: int
    etag: str
    hides: bool = False


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Nothing was saved: the file is not what the draft was made of any more.

    `etag` and `current` are of the file as it stands, `merged` is that with what the draft changed:
    where both changed the same lines, both stand there. `clashing` are such lines as they were.
    `theirs` is what an entry most likely was reworded to; empty where nothing is like it.
    """

    file: File
    etag: str
    current: str
    merged: str
    clashing: tuple[str, ...] = ()
    theirs: str = ""


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What a forgetting would remove: lines of the notes and messages, as they may be shown."""

    entries: tuple[str, ...]
    messages: tuple[str, ...]
