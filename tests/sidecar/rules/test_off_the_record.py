"""Which messages ask not to be noted, and what only sounds like it."""

from __future__ import annotations

from pipimem.notes.message import Message
from pipimem.sidecar.rules.off_the_record import off_the_record

from tests.cases import each


@each(
    "said",
    [
        "@bot off record Ben leaves in May",
        "Hi, off the record: Ben leaves in May",
        "Hey all, off record, Ben leaves in May",
        "please don't tell Nora, the party is on the 5th",
        "Ben leaves in May, don't write anything down",
        "No need to keep this, Ben leaves in May",
    ],
)
def test_a_message_that_asks_not_to_be_noted(said: str) -> None:
    """Also behind an address and a greeting."""
    assert off_the_record([Message("user", said, id="m1", speaker="Tom")]) == {"m1"}


@each(
    "said",
    [
        "I never tell my wife, she guesses it on the 5th anyway",
        "We never tell Anna, she reads the board herself",
        "I don't put anything in my coffee",
        "I never write anything down, I have a good memory",
        "No need to keep that chair, the new one comes on Friday",
        "No need to store this in the fridge",
        "You don't have to keep it in the fridge",
    ],
)
def test_what_people_do_or_need_not_keep_is_noted(said: str) -> None:
    """A habit of theirs, and a thing rather than words."""
    assert off_the_record([Message("user", said, id="m1", speaker="Tom")]) == frozenset()
