"""Notes made from texts, as the tests of notes and memory need them."""

from __future__ import annotations

from datetime import datetime

from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Trust

KEY = b"a key of a test channel"
NOW = datetime.fromisoformat("2026-03-12T18:00:00+08:00")


def notes_of(
    memory: str = "",
    session: str = "",
    history: str = "",
    workspace: str = "",
    ledger: Ledger | None = None,
    trust: Trust | None = None,
) -> Notes:
    """The notes of a channel with these texts; with `trust`, every bullet of MEMORY.md has a
    record of it.
    """
    read = Note.read(File.MEMORY, memory, KEY)
    state = ledger or Ledger()
    if trust:
        records = {
            entry.id: Record(trust, when="2026-03-01T09:00:00+08:00") for entry in read.entries
        }
        state = Ledger(cursor=state.cursor, records=records)
    return Notes(
        KEY,
        Note.read(File.SESSION, session, KEY),
        read,
        Note.read(File.HISTORY, history, KEY),
        Note.read(File.MEMORY, workspace, KEY),
        state,
    )
