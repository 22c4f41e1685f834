"""An index that follows the notes file by file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.recall.gathering import Gathering
from pipimem.recall.index import Index
from pipimem.text.words import Words

from tests.recall.conftest import notes_from


def held(index: Index) -> set[str]:
    """The texts an index holds."""
    return {item.text for _, item in index.slots()}


def test_only_the_file_that_changed_is_read_again(words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes that are the same values cost nothing."""
    index = Index(words)
    gathering = Gathering(index)
    first = notes_from(memory="## Facts\n\n- one\n", history="## h\n\n- then\n")
    gathering.update(first)
    updated: list[str] = []
    monkeypatch.setattr(Index, "update", lambda self, items, part="": updated.append(part))
    gathering.update(first)
    assert updated == []
    gathering.update(replace(first, memory=notes_from(memory="## Facts\n\n- two\n").memory))
    assert updated == ["memory"]


def test_what_people_change_and_delete_is_followed(words: Words) -> None:
    """New text is found, old text is gone; messages leave once they are consolidated."""
    index = Index(words)
    gathering = Gathering(index)
    gathering.update(notes_from(memory="## Facts\n\n- one\n- two\n"), [Message.user("said", id="m1")])
    assert held(index) == {"one", "two", "said"}
    gathering.update(notes_from(memory="## Facts\n\n- two\n- three\n"))
    assert held(index) == {"two", "three"}


def test_a_changed_record_is_followed(words: Words) -> None:
    """Trust and recalls come from the ledger, not from the file."""
    index = Index(words)
    gathering = Gathering(index)
    notes = notes_from(memory="## Facts\n\n- one\n")
    gathering.update(notes)
    name = notes.memory.entries[0].id
    gathering.update(replace(notes, ledger=Ledger(records={name: Record(Trust.EXPLICIT, recalls=2)})))
    assert [(item.trust, item.recalls) for _, item in index.slots()] == [("explicit", 2)]
