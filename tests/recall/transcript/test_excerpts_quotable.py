"""What answers nothing is no excerpt; what answers shortly is."""

from __future__ import annotations

import pytest
from pipimem.recall.transcript.excerpts import is_filler
from pipimem.text.words.index_words import Words

from tests.cases import table


@pytest.mark.parametrize(
    ("asked", "text"),
    table(__file__, "an_acknowledgement_or_the_question_again_is_filler"),
)
def test_an_acknowledgement_or_the_question_again_is_filler(
    words: Words, asked: str, text: str
) -> None:
    """It would cost the tokens of an answer."""
    assert is_filler(text, asked, words)


@pytest.mark.parametrize(
    ("asked", "text"),
    table(__file__, "a_short_answer_is_none"),
)
def test_a_short_answer_is_none(words: Words, asked: str, text: str) -> None:
    """A time, a name, a yes or a no is what was asked for."""
    assert not is_filler(text, asked, words)
