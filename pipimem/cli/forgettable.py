"""What of a channel a forgetting would take, for a person to see before it is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.store.channel import ChannelStore
from pipimem.store.forgetting.needles import named

_FILES = (File.SESSION, File.MEMORY, File.HISTORY)


@dataclass(frozen=True, slots=True)
class Forgettable:
    """The entries that hold the text, by file, and the messages."""

    entries: tuple[Entry, ...]
    messages: tuple[Message, ...]

    def __bool__(self) -> bool:
        return bool(self.entries or self.messages)


def forgettable(store: ChannelStore, what: str | Sequence[str], *, keep_transcript: bool) -> Forgettable:
    """What holds the text `what`, or the text of the entry with that id (`memory:abcd2345` or `abcd2345`)."""
    notes = store.notes()
    needles, _ = named(notes, what)
    archived = Note.read(File.ARCHIVE, store.archive_text(), store.key).entries
    every = (*(entry for file in _FILES for entry in notes.note(file).entries), *archived)
    messages = () if keep_transcript else store.transcript.messages()
    return Forgettable(
        tuple(entry for entry in every if needles.are_in(entry.text)),
        tuple(m for m in messages if m.content and (m.id in needles.messages or needles.are_in(m.content))),
    )
