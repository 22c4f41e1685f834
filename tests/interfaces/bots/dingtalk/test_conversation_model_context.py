"""What a conversation's model is shown."""

from __future__ import annotations

from pipimem import Message
from pipimem.bots.dingtalk.conversation import ModelContext


def said(name: str, text: str = "the port is 8080") -> Message:
    return Message.user(text, id=name)


def test_what_is_off_the_record_is_shown_and_not_stored() -> None:
    """The model answers to it; a compaction never has it."""
    context = ModelContext()
    context.add([said("m1")], is_stored=True)
    context.add([said("m2")], is_stored=False)
    assert [one.id for one in context.messages] == ["m1", "m2"]
    assert [one.id for one in context.stored] == ["m1"]


def test_what_was_taken_back_is_shown_no_more() -> None:
    """Also where it is added only after that, as a reply ends."""
    context = ModelContext()
    context.add([said("m1"), said("m2")], is_stored=True)
    context.take_back("m1")
    context.take_back("m3")
    context.add([said("m3"), said("m4")], is_stored=True)
    assert [one.id for one in context.messages] == ["m2", "m4"]


def test_a_long_context_is_full_until_it_is_cleared() -> None:
    """By what is said in it, however many messages that are."""
    context = ModelContext()
    context.add([said("m1", "x" * 11_999)], is_stored=True)
    assert not context.is_full
    context.add([said("m2", "x")], is_stored=False)
    assert context.is_full
    context.clear()
    assert (context.is_full, context.messages) == (False, [])
