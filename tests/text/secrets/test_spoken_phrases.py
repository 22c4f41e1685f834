"""What people say around a secret is data, and all of it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pipimem.text.secrets
from pipimem import resources
from pipimem.text.secrets import redacted
from pipimem.text.secrets.spoken import phrases

from tests.cases import each, table

HEADINGS = sorted(resources.sections("secrets/phrases"))


@each("heading", HEADINGS)
def test_every_heading_is_read_and_can_be_compiled(heading: str) -> None:
    """A heading that no module names would do nothing."""
    folder = Path(pipimem.text.secrets.__file__).parent
    assert any(f"{heading}" in path.read_text("utf-8") for path in folder.glob("*.py"))
    re.compile(phrases(heading))


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
