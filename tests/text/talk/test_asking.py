"""Which messages ask not to be noted, and what only sounds like it."""

from __future__ import annotations

from pipimem.notes.message import Message
from pipimem.text.talk.asking import off_the_record

from tests.cases import each, table


@each(
    "said",
    table(__file__, "a_message_that_asks_not_to_be_noted"),
)
def test_a_message_that_asks_not_to_be_noted(said: str) -> None:
    """Also behind an address and a greeting."""
    assert off_the_record([Message("user", said, id="m1", speaker="Tom")]) == {"m1"}


@each(
    "said",
    table(__file__, "what_people_do_or_need_not_keep_is_noted"),
)
def test_what_people_do_or_need_not_keep_is_noted(said: str) -> None:
    """A habit of theirs, and a thing rather than words."""
    assert off_the_record([Message("user", said, id="m1", speaker="Tom")]) == frozenset()
