"""What was kept on probation and never came up again."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipimem.memory.expire import expired
from pipimem.notes.applied import applied
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Invalidate, Trust

from tests.notes.building import NOW, notes_of

MEMORY = "## Facts\n\n- over\n- recalled\n- running\n- durable\n- 自己写的\n"


def on_probation() -> Notes:
    name = {entry.text: entry.id for entry in notes_of(MEMORY).memory.entries}
    records = {
        name["over"]: Record(Trust.INFERRED, probation_until=NOW.isoformat()),
        name["recalled"]: Record(Trust.INFERRED, probation_until=NOW.isoformat(), recalls=1),
        name["running"]: Record(Trust.INFERRED, probation_until=(NOW + timedelta(seconds=1)).isoformat()),
        name["durable"]: Record(Trust.INFERRED, when="2020-01-01T00:00:00+00:00"),
        "gone2345": Record(Trust.INFERRED, probation_until=NOW.isoformat()),
    }
    return notes_of(MEMORY, ledger=Ledger(records=records))


def texts_out(notes: Notes, now: datetime) -> set[str]:
    found = [notes.find(op.target) for op in expired(notes, now).operations if isinstance(op, Invalidate)]
    return {entry.text for entry in found if entry}


def test_only_what_is_over_and_never_recalled_goes() -> None:
    """One recall saves an entry; what is durable or typed has no probation, and what stands no more is passed over."""
    assert texts_out(on_probation(), NOW) == {"over"}
    assert texts_out(on_probation(), NOW + timedelta(seconds=1)) == {"over", "running"}
    assert texts_out(on_probation(), NOW - timedelta(seconds=1)) == set()


def test_it_is_a_rule_and_no_thought() -> None:
    """The calendar decides, gives its reason, and touches nothing else of the file."""
    decision = expired(on_probation(), NOW)
    assert (decision.task, decision.author) == ("expire", Author.RULE)
    outcome = applied(on_probation(), decision, NOW)
    assert outcome.texts == {File.MEMORY: MEMORY.replace("- over\n", "")}
    assert [change.reason for change in outcome.changes] == ["its probation ended without a recall"]
