"""A quote is written and read with who and when; texts are compared without."""

from __future__ import annotations

from datetime import date

from pipimem.text.quotes import (
    QuoteParts,
    begins_with_itself,
    day_of,
    of_different_people,
    quoted,
    read_quote,
    words_said,
)
from pipimem.text.words.similarity import Statement, bigrams, says_the_same

from tests.cases import each, table

DAY = date(2026, 11, 12)


@each(
    ("name", "said", "text"),
    [
        ("Tom", "we never deploy on Fridays", "Tom (2026-11-12): we never deploy on Fridays"),
        ("林晓", "以后周五下午不开会", "林晓（2026-11-12）：以后周五下午不开会"),
        ("Tom", "我不吃辣", "Tom（2026-11-12）：我不吃辣"),
        ("老周", "we use Redis", "老周 (2026-11-12): we use Redis"),
        ("Dana Q. Jones", "10:15: nobody came", "Dana Q. Jones (2026-11-12): 10:15: nobody came"),
    ],
)
def test_a_quote_comes_back_as_it_was_written(name: str, said: str, text: str) -> None:
    """The signs are those of what was said, not of the name."""
    assert quoted(name, DAY, said) == text
    assert read_quote(text) == QuoteParts(name, "2026-11-12", said)
    assert words_said(text) == said
    assert day_of(text) == DAY


def test_without_a_day_the_name_stands_alone() -> None:
    """Messages need not have a time."""
    assert quoted("Tom", None, "we use Redis") == "Tom: we use Redis"


@each("text", ["Tom: hello", "The fair (2026-11-12) was fine", "a (b): c", "Tom (2026-11-12):", ""])
def test_other_texts_are_no_quotes(text: str) -> None:
    """They are taken as they stand."""
    assert read_quote(text) == QuoteParts("", "", text)
    assert day_of(text) is None


def test_a_day_that_is_none_is_no_day() -> None:
    """Typed by hand."""
    assert day_of("Tom (2026-02-30): hello") is None


def test_who_and_when_are_no_part_of_what_is_compared() -> None:
    """One thing said twice is one; another number is another thing; "I" of two people are two."""
    first, again = (
        "Tom (2026-11-12): we never deploy on Fridays",
        "Ann (2026-12-01): We never deploy on Fridays",
    )
    assert says_the_same(first, again)
    assert Statement.of(first).says_the_same(Statement.of(again))
    assert bigrams(first) == bigrams(again)
    assert not says_the_same(
        "Tom (2026-11-12): rooms 3 and 4 are free", "Tom (2026-11-12): rooms 3 and 5 are free"
    )
    mine, yours = "Tom（2026-11-12）：我不吃辣", "林晓（2026-11-12）：我不吃辣"
    assert of_different_people(read_quote(mine), read_quote(yours))
    assert not says_the_same(mine, yours)
    assert not Statement.of(mine).says_the_same(Statement.of(yours))
    assert says_the_same(mine, "Tom（2026-12-01）：我不吃辣")


def test_two_short_quotes_of_a_day_are_not_alike_by_their_beginning() -> None:
    """Else a deleted one would pass for the other reworded."""
    assert not bigrams("王磊（2026-11-12）：我吃素") & bigrams("王磊（2026-11-12）：周五停电")


@each(
    ("said", "name", "wanted"),
    table(__file__, "words_that_begin_with_who_says_them"),
)
def test_words_that_begin_with_who_says_them(said: str, name: str, wanted: bool) -> None:
    """In the first person of one, or with the name."""
    assert begins_with_itself(said, name) is wanted
