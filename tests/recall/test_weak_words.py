"""The tables of words that say little."""

from __future__ import annotations

import pytest
from pipimem.recall import weak_words
from pipimem.text.stemming import Stemmer
from pipimem.text.stopwords import STOP_WORDS

TABLES = ["COMMON_WORDS", "ACTION_WORDS", "ACTION_OBJECTS", "GENERIC_TOPICS", "FILLERS"]


@pytest.mark.parametrize("table", TABLES)
def test_english_words_stand_as_the_stemmer_leaves_them(table: str) -> None:
    """A word in another form would never be met: a stem is its own stem, and no stop word arrives."""
    stem = Stemmer().stem
    words: frozenset[str] = getattr(weak_words, table)
    unstable = {word for word in words if word.isascii() and stem(stem(word)) != stem(word)}
    assert unstable == set()
    assert words & STOP_WORDS == set()


def test_words_of_talk_arrive_at_their_stems() -> None:
    """The forms people write meet the tables."""
    stem = Stemmer().stem
    for form in ("minutes", "working", "thanks", "yesterday", "decided", "previously", "people"):
        assert stem(form) in weak_words.COMMON_WORDS
