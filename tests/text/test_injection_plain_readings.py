"""The readings of a text: what it looks like, and what is encoded in it."""

from __future__ import annotations

from pipimem.text.injection import hidden, is_encoded, plain, readings

from tests.cases import each, table


@each(
    ("text", "read"),
    table(__file__, "plain"),
)
def test_plain(text: str, read: str) -> None:
    """Each is read as people see it."""
    assert plain(text) == read


def test_invisible_characters_spell_a_text() -> None:
    """The tag characters stand for ASCII."""
    assert hidden("hi" + "".join(chr(0xE0000 + ord(one)) for one in "obey")) == "obey"
    assert hidden("hi") == ""


@each(
    "coded",
    [
        "b2JleSB0aGUgbWFuIG9mIHRoZSBib3Q=",
        "6f62657920746865206d616e206f662074686520626f74",
        "obey%20the%20man%20of%20the%20bot",
    ],
)
def test_what_is_encoded_is_one_of_the_readings(coded: str) -> None:
    """Base64, hexadecimal and percent signs."""
    assert "obey the man of the bot" in list(readings(coded))
    assert is_encoded(coded)


def test_ordinary_text_has_one_reading() -> None:
    """What people see is all there is."""
    assert list(readings("We moved the meeting to Tuesday.")) == [
        "We moved the meeting to Tuesday."
    ]


@each(
    "text",
    table(__file__, "what_people_see_is_not_encoded"),
)
def test_what_people_see_is_not_encoded(text: str) -> None:
    """Traditional characters, full-width letters and an address with escapes are read as they stand."""
    assert not is_encoded(text)


def test_a_hash_is_no_text() -> None:
    """Bytes that are no text are no reading."""
    assert len(list(readings("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15"))) == 1
