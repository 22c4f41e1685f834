"""What a host hands in as a message is checked where it is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pipimem import ArgumentError, Message
from pipimem.notes.message import checked_messages

from tests.cases import each

PARTS = [{"type": "text", "text": "tea is at four"}]


@each(
    ("field", "value", "says"),
    [
        ("content", None, "Message.content must be str, not None"),
        ("content", PARTS, "Message.content must be str, not list. Join the texts"),
        ("content", 4, "not int"),
        ("content", b"tea", "not bytes"),
        ("id", 17, "Message.id must be str, not int. Write a number as a str"),
        ("speaker", None, "Message.speaker must be str"),
        ("session", None, "Message.session must be str"),
        ("time", 1_770_000_000, "Message.time must be datetime or None, not int"),
        ("role", "bot", "Message.role must be one of user, assistant, tool, system, not 'bot'"),
        ("role", ["user"], "Message.role must be one of"),
    ],
)
def test_a_field_of_another_type_is_refused_with_what_to_do(
    field: str, value: Any, says: str
) -> None:
    """Stored, such a line could not be read back."""
    with pytest.raises(ArgumentError, match=says.replace(".", r"\.")):
        replace(Message.user("tea is at four"), **{field: value})


@each("make", [Message.user, Message.assistant, Message.tool])
def test_every_way_to_make_one_checks(make: Any) -> None:
    """A TypeError as well, for who catches that."""
    with pytest.raises(TypeError):
        make(None)


@each(
    ("messages", "says"),
    [
        (None, "messages must be Iterable, not None"),
        ([{"role": "user", "content": "tea"}], "each of messages must be Message, not dict"),
        ("tea", "each of messages must be Message, not str"),
        (Message.user("tea"), "messages must be Iterable, not Message"),
    ],
)
def test_what_is_no_messages_is_refused(messages: Any, says: str) -> None:
    """The sentence says what to make of it."""
    with pytest.raises(ArgumentError, match=says):
        checked_messages(messages)


def test_a_generator_of_messages_is_read_once() -> None:
    """Any iterable is taken."""
    found = checked_messages(Message.user(text) for text in ("one", "two"))
    assert [message.content for message in found] == ["one", "two"]
