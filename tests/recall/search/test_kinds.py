"""The built-in table of kinds."""

from __future__ import annotations

from pipimem.recall.search.kinds import KINDS, Kinds
from pipimem.text.words import Words


def test_a_kind_finds_what_is_of_it_and_not_the_other_way() -> None:
    """Who asks for pets means dogs; who asks for the dog does not mean any pet."""
    kinds = Kinds()
    assert "dog" in kinds.of("pet")
    assert "pet" not in kinds.of("dog")
    assert "徒步" in kinds.of("户外")


def test_every_chinese_word_of_the_table_is_an_index_word(words: Words) -> None:
    """One that is cut or left out could never be found."""
    table = {word.strip(":") for line in KINDS.splitlines() for word in line.split()}
    bags = {word: words.bag(f"{word}") for word in table if word and not word.isascii()}
    unknown = {
        word for word, bag in bags.items() if word not in bag.words and not (len(word) == 1 and f"~{word}" in bag.grams)
    }
    assert unknown == set()
