"""Which of many texts are nearly alike, and how many are compared to find out."""

from __future__ import annotations

import random

import pytest
from pipimem.store.checkup import near_duplicates
from pipimem.store.checkup.near_duplicates import MOST_COMPARED, alike_earlier
from pipimem.text.similarity import NEARLY_ALIKE, Statement, alike


def sentences(count: int) -> list[str]:
    """Sentences of a few words, of which some are another one reworded."""
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnop", k=5)) for _ in range(60)]
    found = [" ".join(dice.choices(words, k=6)) for _ in range(count)]
    return found + [f"{text} {dice.choice(words)}" for text in found[::4]]


def test_all_that_are_nearly_alike_are_found() -> None:
    """As by comparing each with each, where not too many are like one."""
    texts = list(map(Statement.of, sentences(200)))
    every = [
        [other for other in range(place) if alike(one.grams, texts[other].grams) >= NEARLY_ALIKE]
        for place, one in enumerate(texts)
    ]
    assert list(alike_earlier(texts)) == every
    assert any(every)


@pytest.mark.parametrize("shape", ["like lines", "lines of their own"])
def test_ten_times_the_entries_are_ten_times_the_comparisons(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a hundred times: 7,000 like lines took minutes."""
    compared = 0

    def counted(a: frozenset[str], b: frozenset[str]) -> float:
        nonlocal compared
        compared += 1
        return alike(a, b)

    monkeypatch.setattr(near_duplicates, "alike", counted)
    for count in (200, 2_000):
        lines = (
            [f"job {n // 2}, try {n % 2}" for n in range(count)]
            if shape == "like lines"
            else sentences(count)
        )
        compared = 0
        list(alike_earlier(list(map(Statement.of, lines))))
        assert compared <= MOST_COMPARED * len(lines)
