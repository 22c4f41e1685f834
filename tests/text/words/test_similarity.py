"""What two texts share is measured so that a copy is seen and a correction is kept."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.words.index_words import Bag, Words
from pipimem.text.words.segmentation import Segmenter
from pipimem.text.words.similarity import (
    SimilarTexts,
    Statement,
    alike,
    bigrams,
    jaccard,
    near_duplicate,
    same_script,
    same_subject,
    says_the_same,
    share_in,
)

from tests.cases import each, table

SETS = st.frozensets(st.sampled_from("abcdef"))


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(Segmenter())


def test_jaccard_is_the_shared_part_of_all():
    """Two of four words are a half; nothing shares nothing."""
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert jaccard(set(), set()) == 0.0
    assert jaccard({"a"}, set()) == 0.0


@given(SETS, SETS)
def test_the_measure_is_symmetric_and_bounded(a, b):
    """Between 0 and 1, whichever comes first."""
    assert 0 <= jaccard(a, b) == jaccard(b, a) <= 1


@pytest.mark.parametrize(
    ("a", "b"),
    table(__file__, "the_same_said_again_is_a_duplicate"),
)
def test_the_same_said_again_is_a_duplicate(a, b, words):
    """Punctuation, small words and the way a date is written do not matter."""
    assert near_duplicate(words.bag(a), words.bag(b))


@pytest.mark.parametrize(
    ("a", "b"),
    table(__file__, "a_correction_is_no_duplicate"),
)
def test_a_correction_is_no_duplicate(a, b, words):
    """Another number, another day or a "not" makes it another statement."""
    assert not near_duplicate(words.bag(a), words.bag(b))


def test_empty_bags_are_no_duplicates():
    """Nothing is not the same as nothing."""
    assert not near_duplicate(Bag(), Bag())


def test_half_the_words_are_not_enough():
    """Texts that share half of their words do not say the same."""
    assert not near_duplicate(Bag(("x", "y", "z")), Bag(("y", "z", "q")))


@each(
    ("old", "new"),
    table(__file__, "a_newer_value_speaks_of_what_it_changes"),
)
def test_a_newer_value_speaks_of_what_it_changes(old: str, new: str) -> None:
    """However it is worded."""
    assert same_subject(old, new)


@each(
    ("old", "new"),
    [
        ("The meeting is on Friday at 10:00", "Backups run on Friday at 10:00"),
        ("周会是周五 10:00", "备份在周五 10:00 运行"),
        ("Customer data must not leave the EU", "The new terms apply from 2026-04-01"),
        ("Dana is allergic to shellfish", "The build runs on Python 3.12"),
        ("压测要先通知机房，不然会被限流", "新条款从 2026-04-01 起生效"),
    ],
)
def test_a_mixed_up_id_is_seen(old: str, new: str) -> None:
    """A value in common says nothing."""
    assert not same_subject(old, new)


@each(
    ("text", "other", "same"),
    [
        ("The release window is Thursday", "上线窗口改到周三 18:00", False),
        ("林晓 likes short answers", "Dana likes long ones", True),
        ("用 pnpm，不用 npm", "前端仓库用 yarn", True),
        ("2026-03-06", "10:00", True),
    ],
)
def test_the_script_is_that_of_most_words(text: str, other: str, same: bool) -> None:
    """A name or a tool in the other script does not change it."""
    assert same_script(text, other) is same


def test_pairs_pass_over_white_space_and_case():
    """What an editor reflows or capitalises stays the same; one character is its own pair."""
    assert bigrams("Tea  or\ncoffee") == bigrams("tea OR coffee")
    assert bigrams("不吃葱") == {"不吃", "吃葱"}
    assert (bigrams("茶"), bigrams(" ")) == ({"茶"}, frozenset())


@each(
    ("part", "whole", "share"),
    [
        ("tea", "green tea", 1.0),
        ("green tea", "tea", 2 / 7),
        ("tea", "码头", 0.0),
        ("", "tea", 1.0),
    ],
)
def test_a_share_looks_at_one_side(part, whole, share):
    """What the other text has beside it does not matter."""
    assert share_in(bigrams(part), bigrams(whole)) == share


@given(st.text(max_size=20), st.text(max_size=20))
def test_likeness_is_symmetric_and_bounded(a, b):
    """From 0 to 1 whichever comes first, and 1 for a text and itself."""
    one, other = bigrams(a), bigrams(b)
    assert 0 <= alike(one, other) == alike(other, one) <= 1
    assert alike(one, one) == 1


WORDS = st.sampled_from(["the", "port", "8080", "9090", "is", "not", "open", "灯笼", "开", "a", ""])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_those_that_say_the_same_are_found(texts: list[str], said: str) -> None:
    """All of them, and no other."""
    same = [place for place, text in enumerate(texts) if says_the_same(said, text)]
    assert SimilarTexts(texts).of(said) == same


@each(
    ("a", "b", "same"),
    [
        ("Marta is allergic to peanuts and cashews", "Marla is allergic to peanuts and cashews", False),
        ("小林对花生过敏，也不吃虾", "小琳对花生过敏，也不吃虾", False),
        ("the talk is in room A of the library", "the talk is in room B of the library", False),
        ("my mother takes the morning pill", "my mother takes the evening pill", False),
        ("my mother lives in Essen near the station", "my brother lives in Essen near the station", False),
        ("Dana moved to Essen in May.", "Dana moved to Essen in May", True),
        ("the port is 9090", "The port is 9090!", True),
    ],
)  # fmt: skip
def test_letters_that_are_alike_do_not_say_the_same(a: str, b: str, same: bool) -> None:
    """One word is enough for two things."""
    assert says_the_same(a, b) is same


def test_only_what_has_the_same_words_and_numbers_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Clearing a file of 1,600 bullets, with as many in the history, took 20 s."""
    compared = 0
    compare = Statement.says_the_same

    def counted(one: Statement, other: Statement) -> bool:
        nonlocal compared
        compared += 1
        return compare(one, other)

    monkeypatch.setattr(Statement, "says_the_same", counted)
    dice = random.Random(1)
    texts = [
        " ".join("".join(dice.choices("abcdefghijkl", k=6)) for _ in range(4)) for _ in range(1_000)
    ]
    texts = [f"{text} {number // 10}" for number, text in enumerate(texts)]
    similar = SimilarTexts(texts)
    assert [similar.of(f"{text}.") for text in texts] == [[place] for place in range(1_000)]
    assert compared < 10_000
