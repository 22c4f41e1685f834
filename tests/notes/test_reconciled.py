"""What a person's edit means for the ledger."""

from __future__ import annotations

from pipimem.notes.ledger import Delta
from pipimem.notes.operations import Trust
from pipimem.notes.reconciled import reconciled

from tests.notes.building import notes_of

OLD = "## Facts\n\n- the port is 8080\n- Dana is on leave until Monday\n\n## Decisions\n\n- we ship on Thursday\n"


def edited(new: str) -> tuple[dict[str, str], Delta]:
    """The delta of an edit, and the ids of both texts by their words."""
    before, after = notes_of(OLD, trust=Trust.INFERRED), notes_of(new)
    names = {entry.text: entry.id for entry in (*before.memory.entries, *after.memory.entries)}
    return names, reconciled(before, after)


def test_a_reworded_entry_keeps_its_record_and_becomes_a_persons() -> None:
    """The record follows the words by likeness."""
    names, delta = edited(OLD.replace("until Monday", "until Tuesday"))
    record = delta.records[names["Dana is on leave until Tuesday"]]
    assert record is not None
    assert (record.trust, record.predecessor) == (Trust.HUMAN, names["Dana is on leave until Monday"])
    assert delta.records[names["Dana is on leave until Monday"]] is None
    assert names["Dana is on leave until Monday"] not in delta.tombstones


def test_a_moved_entry_keeps_its_record_under_its_new_kind() -> None:
    """Moving changes no words, so nothing is lost; the kind follows the heading."""
    names, delta = edited(OLD.replace("- the port is 8080\n", "") + "- the port is 8080\n")
    record = delta.records[names["the port is 8080"]]
    assert record is not None
    assert (record.trust, record.kind) == (Trust.INFERRED, "decision")
    assert delta.tombstones == {}


def test_a_deleted_entry_leaves_a_tombstone() -> None:
    """So that older talk does not bring it back."""
    names, delta = edited(OLD.replace("- we ship on Thursday\n", ""))
    assert list(delta.tombstones) == [names["we ship on Thursday"]]


def test_a_new_entry_is_a_persons() -> None:
    """Whatever nobody decided was typed."""
    names, delta = edited(OLD + "- 周五不发布\n")
    record = delta.records[names["周五不发布"]]
    assert record is not None
    assert (record.trust, record.kind) == (Trust.HUMAN, "decision")


def test_a_rewritten_file_pairs_nothing() -> None:
    """Unlike texts are not taken for rewordings."""
    names, delta = edited("- something else entirely\n")
    record = delta.records[names["something else entirely"]]
    assert record is not None
    assert record.predecessor == ""
    assert len(delta.tombstones) == 3
