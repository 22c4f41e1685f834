"""Rules for others that one member of a group alone says, and who agrees to them."""

from __future__ import annotations

from pipimem.memory.second_voice import agreed_messages, agreed_quotes, binds, seconded_by
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Ledger, QuoteReason, Record
from pipimem.notes.operations import Confirm, Trust
from pipimem.sidecar.tasks import Learned

from tests.cases import each
from tests.memory.test_trust import talk_of
from tests.notes.building import notes_of

RULE = "Nobody deploys on Fridays"
MEMORY = f"## Constraints\n- {RULE}\n"


@each(
    ("kind", "text", "speaker", "expected"),
    [
        (Kind.CONSTRAINT, "Tea is at five", "Eve", True),
        (Kind.PREFERENCE, "Always name the shop first", "Eve", True),
        (Kind.PREFERENCE, "I never work on Fridays", "Eve", False),
        (Kind.WISH, "Eve wants short answers, always", "Eve", False),
        (Kind.FACT, "所有人每次都必须签字", "Eve", True),
        (Kind.FACT, "The shop opens at nine", "Eve", False),
        (Kind.DECISION, "We always meet on Mondays", "Eve", False),
        (Kind.HEALTH, "Bob must never eat nuts", "Eve", False),
    ],
)
def test_what_binds_others(kind: Kind, text: str, speaker: str, expected: bool) -> None:
    """A constraint, and what orders something without being about its speaker."""
    assert binds(kind, text, speaker) is expected


@each(
    ("lines", "agreed"),
    [
        (["Eve: rule", "Bob: agreed"], ["m0"]),
        (["Eve: rule", "Eve: one more", "Bob: 收到"], ["m1", "m0"]),
        (["Eve: rule", "Eve: agreed"], []),
        (["Eve: rule", "Ann: hm", "Bob: agreed"], ["m1"]),
        (["Eve: rule", "bot: Shall I note it?", "Bob: yes"], []),
        (["Eve: rule", "bot: Noted.", "Bob: yes"], ["m0"]),
        (["Eve: rule", "Bob: noted, but I object"], []),
    ],
)
def test_who_agrees(lines: list[str], agreed: list[str]) -> None:
    """Another member, right below; a question of the bot is what is answered instead."""
    assert list(agreed_messages(talk_of(lines))) == agreed


def test_a_quote_becomes_a_rule_once_another_member_agrees() -> None:
    """Also where a later window has the agreement, if it has the message."""
    record = Record(
        Trust.QUOTED, speaker="Eve", sources=("m0",), quote_reason=QuoteReason.ONE_MEMBER
    )
    [entry] = notes_of(MEMORY).memory.entries
    notes = notes_of(MEMORY, ledger=Ledger(records={entry.id: record}))
    said = talk_of([f"Eve: {RULE}", "Bob: agreed"])
    assert agreed_quotes(said, notes) == [Confirm(entry.target, trust=Trust.INFERRED)]
    assert agreed_quotes(said[:1], notes) == []
    again = Learned(Kind.CONSTRAINT, RULE, ("m5",), quote_reason=QuoteReason.ONE_MEMBER)
    assert seconded_by(again, "Eve", [entry], notes) == []
    assert seconded_by(again, "Bob", [entry], notes) == [entry.target]
