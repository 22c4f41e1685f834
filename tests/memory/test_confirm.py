"""One recall ends a probation."""

from __future__ import annotations

from pipimem.memory.confirm import confirmed, recalled_entries
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.operations import Author, Confirm, Trust

from tests.notes.building import NOW, notes_of

MEMORY = "## Facts\n\n- on probation\n- durable\n\na paragraph\n"


def test_only_bullets_of_memory_are_entries_that_were_recalled() -> None:
    """In the order they were found; a paragraph is a person's, other files have no probation."""
    notes = notes_of(MEMORY)
    first, durable, paragraph = notes.memory.entries
    found = [
        f"memory:{durable.ref}",
        f"history:{first.ref}",
        f"memory:{paragraph.ref}",
        f"memory:{first.ref}",
    ]
    assert recalled_entries(notes, found) == (durable, first)


def test_what_is_on_probation_is_confirmed() -> None:
    """The others are as they were, and without any nothing is decided."""
    first, durable, _ = notes_of(MEMORY).memory.entries
    records = {
        first.id: Record(Trust.INFERRED, probation_until=NOW.isoformat()),
        durable.id: Record(Trust.INFERRED, when=NOW.isoformat()),
    }
    decision = confirmed(Ledger(records=records), (durable, first))
    assert decision is not None
    assert (decision.task, decision.author, decision.operations) == (
        "recall",
        Author.RULE,
        (Confirm(first.target),),
    )
    assert confirmed(Ledger(records=records), (durable,)) is None
