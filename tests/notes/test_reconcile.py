"""What a person's edit means for the ledger."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.notes.ledger import Delta, Ledger, Record
from pipimem.notes.operations import Trust
from pipimem.notes.reconcile import reconciled

from tests.cases import each
from tests.notes.building import notes_of

OLD = "## Facts\n\n- the port is 8080\n- Dana is on leave until Monday\n\n## Decisions\n\n- we ship on Thursday\n"


def edited(new: str) -> tuple[dict[str, str], Delta]:
    """The delta of an edit, and the ids of both texts by their words."""
    before, after = notes_of(OLD, trust=Trust.INFERRED), notes_of(new)
    names = {entry.text: entry.id for entry in (*before.memory.entries, *after.memory.entries)}
    return names, reconciled(before, after)


def test_a_reworded_entry_keeps_its_record_and_becomes_a_persons() -> None:
    """The record goes to the one line that came where one left."""
    names, delta = edited(OLD.replace("until Monday", "until Tuesday"))
    record = delta.records[names["Dana is on leave until Tuesday"]]
    assert record is not None
    assert (record.trust, record.predecessor) == (
        Trust.HUMAN,
        names["Dana is on leave until Monday"],
    )
    assert delta.records[names["Dana is on leave until Monday"]] is None
    assert list(delta.tombstones) == [names["Dana is on leave until Monday"]]


def test_a_rewording_puts_the_tombstone_of_a_deletion_on_the_old_wording_in_session_and_history_as_well() -> (
    None
):
    """The old words are no longer so wherever they stand; a line that says the new ones stays."""
    session = "## Current State\n\n- we run PostgreSQL 15 in production\n"
    history = "## 2026-03-01 09:00 · x\n\n- We run PostgreSQL 15 in production.\n- we run PostgreSQL 16 in production\n"
    old = notes_of(
        "## Facts\n\n- we run PostgreSQL 15 in production\n", session, history, trust=Trust.INFERRED
    )
    delta = reconciled(
        old, notes_of("## Facts\n\n- we run PostgreSQL 16 in production\n", session, history)
    )
    gone = {
        entry.text
        for entry in (*old.session.entries, *old.history.entries)
        if entry.id in delta.tombstones
    }
    assert gone == {"we run PostgreSQL 15 in production", "We run PostgreSQL 15 in production."}


def test_what_a_person_reworded_is_nobody_elses_word() -> None:
    """Who said the old words, and when, stays with them; what the entry rests on is known on."""
    before = notes_of(OLD, trust=Trust.INFERRED)
    said = Record(
        Trust.INFERRED,
        "fact",
        ("m1",),
        "Alice",
        "2026-03-01T09:00:00+08:00",
        learnt="2026-03-02T09:00:00+08:00",
    )
    name = before.memory.entries[0].id
    before = replace(before, ledger=Ledger(records={name: said}))
    after = notes_of(OLD.replace("8080", "8081"))
    record = reconciled(before, after).records[after.memory.entries[0].id]
    assert record == Record(Trust.HUMAN, "fact", ("m1",), predecessor=name)


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


@each("place", ["## Facts\n\n", "8080\n", "## Decisions\n\n", "Thursday\n"])
def test_a_line_typed_elsewhere_is_no_rewording_of_one_deleted_in_the_same_save(place: str) -> None:
    """However alike they are; what the old one rests on is not its own."""
    typed, deleted = "- Dana is on leave until Tuesday\n", "- Dana is on leave until Monday\n"
    names, delta = edited(OLD.replace(deleted, "").replace(place, place + typed, 1))
    record = delta.records[names["Dana is on leave until Tuesday"]]
    assert record is not None
    is_in_its_place = place == "8080\n"
    assert (record.predecessor != "") == is_in_its_place


def test_two_lines_in_the_place_of_one_inherit_nothing() -> None:
    """Nobody can tell which of them it was, however alike one is."""
    typed = "- Dana is on leave until Tuesday\n- Dora leaves on Sunday\n"
    names, delta = edited(OLD.replace("- Dana is on leave until Monday\n", typed))
    for text in ("Dana is on leave until Tuesday", "Dora leaves on Sunday"):
        record = delta.records[names[text]]
        assert record is not None
        assert record.predecessor == ""


def test_two_lines_reworded_one_below_the_other_inherit_nothing() -> None:
    """Two left and two came between the same neighbours."""
    names, delta = edited(OLD.replace("8080", "8081").replace("Monday", "Tuesday"))
    for text in ("the port is 8081", "Dana is on leave until Tuesday"):
        record = delta.records[names[text]]
        assert record is not None
        assert record.predecessor == ""


def test_a_rewritten_file_pairs_nothing() -> None:
    """Three left and one came."""
    names, delta = edited("- something else entirely\n")
    record = delta.records[names["something else entirely"]]
    assert record is not None
    assert record.predecessor == ""
    assert len(delta.tombstones) == 3


def test_many_deleted_at_once_take_their_echoes_along_as_one_does() -> None:
    """Capitals and a full stop are no other words; a denial is."""
    facts = [f"the port of lantern {number} is open" for number in range(20)]
    said = [f"The port of lantern {number} is open." for number in range(0, 20, 3)]
    other = ["the port of lantern 3 is not open", "Dana is on leave"]
    memory = "## Facts\n\n" + "".join(f"- {text}\n" for text in facts)
    history = "## 2026-03-01 09:00 · ports\n\n" + "".join(f"- {text}\n" for text in (*said, *other))
    old = notes_of(memory, history=history)
    delta = reconciled(old, notes_of("## Facts\n", history=history))
    standing = {entry.text for entry in old.history.entries if entry.id not in delta.tombstones}
    assert standing == set(other)
    assert len(delta.tombstones) == len(facts) + len(said)
