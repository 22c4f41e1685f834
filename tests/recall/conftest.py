"""A small memory that people can read, in tests/recall/cases/, and the index over it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.recall.index import Index, IndexSync
from pipimem.recall.items import Item
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

CASES = Path(__file__).parent / "cases"
KEY = b"a key for tests"
NOW = datetime(2026, 3, 12, 10, 0, tzinfo=timezone(timedelta(hours=8)))


def notes_from(
    *,
    session: str = "",
    memory: str = "",
    history: str = "",
    workspace: str = "",
    ledger: Ledger | None = None,
) -> Notes:
    """Notes with these texts."""
    return Notes(
        KEY,
        Note.read(File.SESSION, session, KEY),
        Note.read(File.MEMORY, memory, KEY),
        Note.read(File.HISTORY, history, KEY),
        Note.read(File.MEMORY, workspace, KEY),
        ledger or Ledger(),
    )


def items_of(notes: Notes, backlog: Sequence[Message] = ()) -> tuple[Item, ...]:
    """Everything of a channel that can be recalled, as its index holds it."""
    index_sync = IndexSync(Index(Words(Segmenter())))
    index_sync.update(notes, backlog)
    return tuple(item for _, item in index_sync.index.slots())


@pytest.fixture(scope="session")
def words() -> Words:
    """The words of every index in these tests; the dictionary is loaded once."""
    return Words(Segmenter())


@pytest.fixture(scope="session")
def notes() -> Notes:
    """The notes of the cases."""
    texts = (
        (CASES / name).read_text(encoding="utf-8")
        for name in ("SESSION.md", "MEMORY.md", "HISTORY.md")
    )
    session, memory, history = texts
    return notes_from(session=session, memory=memory, history=history)


@pytest.fixture
def index(words: Words, notes: Notes) -> Index:
    """An index over the notes of the cases."""
    index = Index(words)
    index.update(items_of(notes))
    return index
