"""Where a sentence ends."""

from __future__ import annotations

from pipimem.text.talk.sentences import split


def test_the_number_of_a_house_belongs_to_its_sentence() -> None:
    """ "no." in front of a number ends nothing; in front of a word it does."""
    assert split("Ann lives at no. 4 in Leeds") == ["Ann lives at no. 4 in Leeds"]
    assert split("Ann said no. We left.") == ["Ann said no.", "We left."]
