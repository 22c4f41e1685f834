"""The lists of words and phrases."""

from __future__ import annotations

import pytest
from pipimem import resources
from pipimem.recall import phrases, refinement
from pipimem.recall.phrases import weak_words
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import stop_words
from pipimem.text.words.index_words import Stemmer


@pytest.mark.parametrize("table", sorted(resources.sections("recall/weak_words")))
def test_english_words_stand_as_the_stemmer_leaves_them(table: str) -> None:
    """A word in another form would never be met: a stem is its own stem, and no stop word
    arrives.
    """
    stem = Stemmer().stem
    words = weak_words(table)
    unstable = {word for word in words if word.isascii() and stem(stem(word)) != stem(word)}
    assert unstable == set()
    assert words & stop_words() == set()


def test_words_of_talk_arrive_at_their_stems() -> None:
    """The forms people write meet the tables."""
    stem = Stemmer().stem
    for form in ("minutes", "working", "thanks", "yesterday", "decided", "previously", "people"):
        assert stem(form) in weak_words("common")


def test_every_pattern_compiles() -> None:
    """Patterns are compiled on first use, so an error in one would show late."""
    patterns = [
        value
        for room in (phrases, refinement)
        for value in vars(room).values()
        if isinstance(value, Pattern)
    ]
    for pattern in patterns:
        pattern()
    assert len(patterns) == 7
    for section in resources.sections("recall/phrases"):
        phrases.phrases(section.removesuffix(": words"))


@pytest.mark.parametrize("name", ["phrases", "weak_words", "small_talk", "memory_questions"])
def test_each_line_holds_one_phrase_in_small_letters_of_its_pattern(name: str) -> None:
    """No line stands twice in its list, none ends in white space; what is looked for in small
    letters is written so.
    """
    for section, lines in resources.sections(f"recall/{name}").items():
        assert len(set(lines)) == len(lines), section
        assert [line for line in lines if line != line.strip()] == []
        if name in ("phrases", "weak_words"):
            assert [
                line for line in lines if line.replace("\\Z", "") != line.replace("\\Z", "").lower()
            ] == []
