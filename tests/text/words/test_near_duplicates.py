"""Which of many texts say what another says, and how many are compared to find out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.words import similarity
from pipimem.text.words.near_duplicates import SimilarTexts
from pipimem.text.words.similarity import alike, says_the_same

WORDS = st.sampled_from(["the", "port", "8080", "9090", "is", "not", "open", "灯笼", "开", "a", ""])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_those_that_say_the_same_are_found(texts: list[str], said: str) -> None:
    """All of them, and no other."""
    same = [place for place, text in enumerate(texts) if says_the_same(said, text)]
    assert SimilarTexts(texts).of(said) == same


def test_only_what_has_the_same_numbers_and_rare_letters_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Clearing a file of 1,600 bullets, with as many in the history, took 20 s."""
    compared = 0

    def counted(a: frozenset[str], b: frozenset[str]) -> float:
        nonlocal compared
        compared += 1
        return alike(a, b)

    monkeypatch.setattr(similarity, "alike", counted)
    dice = random.Random(1)
    texts = [
        " ".join("".join(dice.choices("abcdefghijkl", k=6)) for _ in range(4)) for _ in range(1_000)
    ]
    texts = [f"{text} {number // 10}" for number, text in enumerate(texts)]
    similar = SimilarTexts(texts)
    assert [similar.of(f"{text}.") for text in texts] == [[place] for place in range(1_000)]
    assert compared < 10_000
