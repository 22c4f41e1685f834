"""Why an entry is a quote, and which quotes wait for a second voice."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Trust
from pipimem.notes.quote_reason import (
    QuoteReason,
    awaiting,
    awaits_second_voice,
    why_awaiting,
)

from tests.cases import each
from tests.notes.building import notes_of


@each(
    ("reason", "awaits"),
    [
        (QuoteReason.INSTRUCTION, False),
        (QuoteReason.CONDUCT, False),
        (QuoteReason.ONE_MEMBER, True),
        (QuoteReason.NEWCOMER, True),
    ],
)
@each("heading", [Kind.CONSTRAINT, Kind.FACT, None])
def test_the_record_says_why_wherever_a_person_moves_it(
    reason: QuoteReason, awaits: bool, heading: Kind | None
) -> None:
    """An order to the bot that stands under Constraints never becomes a rule by an "ok"."""
    assert awaits_second_voice(Record(Trust.QUOTED, quote_reason=reason), heading) is awaits
    assert not awaits_second_voice(Record(Trust.INFERRED, quote_reason=reason), heading)


def test_an_older_record_goes_by_its_heading() -> None:
    """It has no reason; rules of one member stood under what binds, other quotes among facts."""
    older = Record(Trust.QUOTED)
    assert awaits_second_voice(older, Kind.CONSTRAINT)
    assert awaits_second_voice(older, Kind.PREFERENCE)
    assert not awaits_second_voice(older, Kind.FACT)
    assert not awaits_second_voice(Record(Trust.EXPLICIT), Kind.CONSTRAINT)


def test_it_is_told_who_alone_said_what_waits() -> None:
    """Name and day as far as they are known; a name that was forgotten is not."""
    record = Record(
        Trust.QUOTED, speaker="Tom", when="2026-11-10T09:00:00+08:00", quote_reason="newcomer"
    )
    assert why_awaiting(record) == "a newcomer alone said it (Tom, 2026-11-10)"
    assert why_awaiting(replace(record, speaker="", when="")) == "a newcomer alone said it"
    assert (
        why_awaiting(replace(record, quote_reason="", when="")) == "one member alone said it (Tom)"
    )


def test_only_a_bullet_waits() -> None:
    """A paragraph is a person's own, whatever the ledger says of its words."""
    notes = notes_of("## Constraints\n\n- no deploys\n\nno reviews\n", trust=Trust.QUOTED)
    assert [entry.text for entry, _ in awaiting(notes.memory.entries, notes)] == ["no deploys"]
