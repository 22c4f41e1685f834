"""The unseen, the blind, the third and the fourth questions: each names entries that are there, once."""

from __future__ import annotations

from collections import Counter

import pytest
from benchmarks.recall.asked import BLIND, FOURTH, THIRD, UNSEEN, Question, indexes_of, questions
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each

SETS = {cases.name: questions(cases) for cases in (UNSEEN, BLIND, THIRD, FOURTH)}
ENTRIES = {
    (cases.name, folder): [item.text for _, item in index.slots()]
    for cases in (UNSEEN, BLIND, THIRD, FOURTH)
    for folder, index in indexes_of(cases, Words(Segmenter())).items()
}
ALL = [
    pytest.param(name, asked, id=f"{name}-{asked['qid']}")
    for name, each in SETS.items()
    for asked in each
]


@each(("name", "asked"), ALL)
def test_an_answer_stands_in_one_entry(name: str, asked: Question) -> None:
    """A gold text picks exactly one item of the channel; only talk has none."""
    gold = asked.get("gold_text", [])
    assert isinstance(gold, list)
    assert (asked["kind"] in {"none", "none-near"}) == (not gold)
    for text in gold:
        assert len([item for item in ENTRIES[name, str(asked["channel"])] if text in item]) == 1


@each("name", SETS)
def test_half_of_the_questions_are_chinese(name: str) -> None:
    """Neither language has more than six of ten; every question has an id of its own."""
    chinese = sum(asked["lang"] == "zh" for asked in SETS[name])
    assert 0.4 < chinese / len(SETS[name]) < 0.6
    assert len({asked["qid"] for asked in SETS[name]}) == len(SETS[name])


@each("name", [BLIND.name, THIRD.name, FOURTH.name])
def test_talk_has_two_kinds(name: str) -> None:
    """Of the blind, the third and the fourth set, 40 messages have nothing near in memory, 20 are of its
    world; half of each is Chinese.
    """
    talk = Counter(
        (asked["kind"], asked["lang"]) for asked in SETS[name] if "gold_text" not in asked
    )
    assert talk == {
        ("none", "zh"): 20,
        ("none", "en"): 20,
        ("none-near", "zh"): 10,
        ("none-near", "en"): 10,
    }


def test_the_third_set_asks_for_states_of_work() -> None:
    """140 questions of the third set have an answer, 16 of them ask how far a work has come."""
    answered = [asked["kind"] for asked in SETS[THIRD.name] if "gold_text" in asked]
    assert (len(answered), answered.count("state")) == (140, 16)
