"""What kind of question a message is: of the world at large, of the asker's affairs, none."""

from __future__ import annotations

import pytest
from pipimem.recall.query import Query, refined
from pipimem.text.words.index_words import Words

from tests.cases import each
from tests.recall.conftest import NOW


@each(
    ("text", "expected"),
    [
        ("when is my next appointment?", True),
        ("who keeps the key now?", True),
        ("我的钥匙在哪？", True),
        ("现在谁管钥匙？", True),
        ("how are kilns heated?", False),
        # Not one question, though it is about the asker.
        ("My bus was late again. What a day! How is your cat?", False),
    ],
)
def test_one_question_about_ones_own_affairs(text: str, expected: bool) -> None:
    """It needs less evidence than talk does."""
    assert Query(text).is_ours() is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("how do I record my screen?", True), ("how do we record our show?", False)],
)
def test_my_does_not_make_a_way_of_doing_ours(words: Words, text: str, expected: bool) -> None:
    """Anybody's screen is recorded in the same way; how we do it only we know."""
    assert refined(text, words, now=NOW).is_general() is expected
