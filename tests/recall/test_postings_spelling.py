"""Misspelt words and what they may mean."""

from __future__ import annotations

from pipimem.recall.postings import Spelling

from tests.cases import each


@each("slip", ["gatewya", "gatway", "gatteway", "gatewau"])
def test_one_slip_finds_the_word(slip: str) -> None:
    """Two letters in each other's place, one missing, one added, one wrong."""
    spelling = Spelling()
    spelling.add("gateway")
    assert spelling.near(slip) == ("gateway",)


@each("other", ["getawya", "hateway", "gate", "gatekeeper", "gtaewya"])
def test_two_slips_or_another_first_letter_find_nothing(other: str) -> None:
    """What is further away is another word."""
    spelling = Spelling()
    spelling.add("gateway")
    assert spelling.near(other) == ()


def test_short_words_are_taken_as_they_are() -> None:
    """ "Sort" is not "port", "stone" is not "store"."""
    spelling = Spelling()
    for word in ("port", "store"):
        spelling.add(word)
    assert spelling.near("post") == ()
    assert spelling.near("stone") == ()


def test_a_word_that_left_is_meant_no_more() -> None:
    """Words come and go with the items that hold them."""
    spelling = Spelling()
    spelling.add("gateway")
    spelling.remove("gateway")
    assert spelling.near("gatewya") == ()


def test_numbers_and_chinese_are_never_misspelt() -> None:
    """Only plain words of Latin letters are bent."""
    spelling = Spelling()
    for word in ("27085", "发布窗口时间"):
        spelling.add(word)
    assert spelling.near("27086") == ()
    assert spelling.near("发布窗口时候") == ()
