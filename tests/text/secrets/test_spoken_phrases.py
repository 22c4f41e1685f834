"""Words between a word for a secret and its value."""

from __future__ import annotations

from pipimem.text.secrets import redacted

from tests.cases import each, table


@each(
    ("text", "masked"),
    table(__file__, "words_between_a_cue_and_its_value_are_known"),
)
def test_words_between_a_cue_and_its_value_are_known(text: str, masked: str) -> None:
    """Verbs, adverbs and prepositions, in English and Chinese."""
    found = redacted(text)
    assert masked not in found
    assert "[secret:" in found


@each(
    "text",
    table(__file__, "a_reminder_of_a_password_is_no_password"),
)
def test_a_reminder_of_a_password_is_no_password(text: str) -> None:
    """What follows is what to do, a day, a time or a length."""
    assert redacted(text) == text
