"""An index that follows the notes file by file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger, Record, Tombstone
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Trust
from pipimem.recall.index import Index, IndexSync
from pipimem.recall.scoring import Term
from pipimem.text.words.index_words import Words

from tests.recall.conftest import notes_from


def held(index: Index) -> set[str]:
    """The texts an index holds."""
    return {item.text for _, item in index.slots()}


def test_only_the_file_that_changed_is_read_again(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes that are the same values cost nothing."""
    index = Index(words)
    index_sync = IndexSync(index)
    first = notes_from(memory="## Facts\n\n- one\n", history="## h\n\n- then\n")
    index_sync.update(first)
    updated: list[str] = []
    monkeypatch.setattr(Index, "update", lambda self, items, part="": updated.append(part))
    index_sync.update(first)
    assert updated == []
    index_sync.update(replace(first, memory=notes_from(memory="## Facts\n\n- two\n").memory))
    assert updated == ["memory"]


def test_what_people_change_and_delete_is_followed(words: Words) -> None:
    """New text is found, old text is gone; messages leave once they are consolidated."""
    index = Index(words)
    index_sync = IndexSync(index)
    index_sync.update(
        notes_from(memory="## Facts\n\n- one\n- two\n"), [Message.user("said", id="m1")]
    )
    assert held(index) == {"one", "two", "said"}
    index_sync.update(notes_from(memory="## Facts\n\n- two\n- three\n"))
    assert held(index) == {"two", "three"}


def test_who_asks_meanwhile_finds_what_stood_before(words: Words) -> None:
    """Words come and go in a copy, which goes on from there; where none do, nothing is copied."""
    first = IndexSync(Index(words))
    notes = notes_from(memory="## Facts\n\n- one lamp\n- two lamps\n")
    first.update(notes)
    second = first.updated(notes_from(memory="## Facts\n\n- two lamps\n- three owls\n"))
    lamp, owl = ([Term(word)] for word in words.words("lamp owl"))
    assert (held(first.index), held(second.index)) == (
        {"one lamp", "two lamps"},
        {"two lamps", "three owls"},
    )
    assert [len(each.index.search(lamp).totals) for each in (first, second)] == [2, 1]
    assert [len(each.index.search(owl).totals) for each in (first, second)] == [0, 1]
    name = notes.memory.entries[0].id
    recalled = first.updated(
        replace(notes, ledger=Ledger(records={name: Record(Trust.EXPLICIT, recalls=2)}))
    )
    assert recalled.index is first.index
    assert held(recalled.updated(notes_from(memory="")).index) == set()


def test_a_changed_record_is_followed(words: Words) -> None:
    """Trust and recalls come from the ledger, not from the file."""
    index = Index(words)
    index_sync = IndexSync(index)
    notes = notes_from(memory="## Facts\n\n- one\n")
    index_sync.update(notes)
    name = notes.memory.entries[0].id
    index_sync.update(
        replace(notes, ledger=Ledger(records={name: Record(Trust.EXPLICIT, recalls=2)}))
    )
    assert [(item.trust, item.recalls) for _, item in index.slots()] == [("explicit", 2)]


KEY = b"a key of a channel"
LINES = (
    "## Facts",
    "## Decisions",
    "## 2026-03 · March",
    "- one",
    "- two",
    "- three",
    "- none",
    "  and more",
    "prose",
    "",
)
FILES = st.lists(st.sampled_from(LINES), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
EMPTY = Note.read(File.SESSION, "", KEY)


@settings(deadline=None)  # the first text opens the dictionary
@given(
    st.lists(
        st.tuples(FILES, FILES, st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5))),
        min_size=2,
        max_size=5,
    )
)
def test_whatever_changes_the_index_is_that_of_the_notes(
    words: Words, states: list[tuple[str, str, set[int], set[int]]]
) -> None:
    """Entries reworded, moved, doubled, deleted; records and tombstones that come and go."""
    index = Index(words)
    index_sync = IndexSync(index)
    memory = history = Note.read(File.MEMORY, "", KEY)
    for memory_text, history_text, known, gone in states:
        memory = Note.read(File.MEMORY, memory_text, KEY)
        history = Note.read(File.HISTORY, history_text, KEY)
        records = {
            one.id: Record(Trust.EXPLICIT, recalls=n)
            for n, one in enumerate(memory.entries)
            if n in known
        }
        tombstones = {
            one.id: Tombstone("deleted", 0) for n, one in enumerate(history.entries) if n in gone
        }
        notes = Notes(
            KEY, EMPTY, memory, history, memory, Ledger(records=records, tombstones=tombstones)
        )
        index_sync.update(notes)
        fresh = Index(words)
        IndexSync(fresh).update(notes)
        assert {item.id: item for _, item in index.slots()} == {
            item.id: item for _, item in fresh.slots()
        }
