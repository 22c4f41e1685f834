"""Why an entry is a quote, and which quotes wait for a second voice."""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Trust
from pipimem.notes.quote_reason import QuoteReason, awaits_second_voice


@pytest.mark.parametrize(
    ("reason", "awaits"),
    [
        (QuoteReason.INSTRUCTION, False),
        (QuoteReason.CONDUCT, False),
        (QuoteReason.ONE_MEMBER, True),
        (QuoteReason.NEWCOMER, True),
    ],
)
@pytest.mark.parametrize("heading", [Kind.CONSTRAINT, Kind.FACT, None])
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
