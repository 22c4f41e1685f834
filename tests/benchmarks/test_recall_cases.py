"""The unseen, the blind, the third and the fourth questions: each names entries that are there, once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.recall.asked import BLIND, FOURTH, THIRD, UNSEEN, indexes_of, questions
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each


@each("cases", [UNSEEN, BLIND, THIRD, FOURTH])
def test_an_answer_stands_in_one_entry(cases: Path) -> None:
    """A gold text picks exactly one item of the channel; only talk has none."""
    words = Words(Segmenter())
    entries = {
        folder: [item.text for _, item in index.slots()]
        for folder, index in indexes_of(cases, words).items()
    }
    wrong = []
    for asked in questions(cases):
        gold = asked.get("gold_text", [])
        assert isinstance(gold, list)
        held = [sum(text in item for item in entries[str(asked["channel"])]) for text in gold]
        if set(held) - {1} or (asked["kind"] in {"none", "none-near"}) != (not gold):
            wrong.append(asked["qid"])
    assert wrong == []


@each("cases", [UNSEEN, BLIND, THIRD, FOURTH])
def test_half_of_the_questions_are_chinese(cases: Path) -> None:
    """Neither language has more than six of ten; every question has an id of its own."""
    asked = questions(cases)
    assert 0.4 < sum(one["lang"] == "zh" for one in asked) / len(asked) < 0.6
    assert max(Counter(str(one["qid"]) for one in asked).values()) == 1
