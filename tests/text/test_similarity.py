"""What two texts share is measured so that a copy is seen and a correction is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.segmentation import Segmenter
from pipimem.text.similarity import jaccard, near_duplicate
from pipimem.text.words import Bag, Words

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
    [
        (
            "The deploy window is Thursday night at ten",
            "the deploy window is on Thursday night, at ten.",
        ),
        ("小王不喜欢吃香菜", "小王 不喜欢 吃香菜。"),
        ("发布日期是2026年5月1日", "发布日期是 2026-05-01"),
    ],
)
def test_the_same_said_again_is_a_duplicate(a, b, words):
    """Punctuation, small words and the way a date is written do not matter."""
    assert near_duplicate(words.bag(a), words.bag(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (
            "The retry limit of the gateway upload queue is 20",
            "The retry limit of the gateway upload queue is 30",
        ),
        ("发布窗口定在 5月1日 晚上的上海机房", "发布窗口定在 5月2日 晚上的上海机房"),
        ("小王喜欢吃香菜", "小王不喜欢吃香菜"),
        ("Alice likes coriander", "Alice doesn't like coriander"),
        ("Alice likes coriander", "the weather was fine"),
    ],
)
def test_a_correction_is_no_duplicate(a, b, words):
    """Another number, another day or a "not" makes it another statement."""
    assert not near_duplicate(words.bag(a), words.bag(b))


def test_empty_bags_are_no_duplicates():
    """Nothing is not the same as nothing."""
    assert not near_duplicate(Bag(), Bag())


def test_the_threshold_is_the_callers():
    """Half the words are enough for who asks for less."""
    a, b = Bag(("x", "y", "z")), Bag(("y", "z", "q"))
    assert not near_duplicate(a, b)
    assert near_duplicate(a, b, threshold=0.4)
