"""The unseen questions: each names entries that are there, once."""

from __future__ import annotations

import pytest
from benchmarks.recall.asked import UNSEEN, Question, notes_of, questions
from pipimem.recall.items import items_of

QUESTIONS = questions(UNSEEN)
CHANNELS = {
    folder.name: [item.text for item in items_of(notes_of(folder, UNSEEN / "workspace"))]
    for folder in (UNSEEN / "workspace" / "channels").iterdir()
}


@pytest.mark.parametrize("asked", QUESTIONS, ids=[str(asked["qid"]) for asked in QUESTIONS])
def test_an_answer_stands_in_one_entry(asked: Question) -> None:
    """A gold text picks exactly one item of the channel; only talk has none."""
    gold = asked.get("gold_text", [])
    assert isinstance(gold, list)
    assert (asked["kind"] == "none") == (not gold)
    for text in gold:
        assert len([item for item in CHANNELS[str(asked["channel"])] if text in item]) == 1


def test_half_of_the_questions_are_chinese() -> None:
    """Neither language has more than six of ten; every question has an id of its own."""
    chinese = sum(asked["lang"] == "zh" for asked in QUESTIONS)
    assert 0.4 < chinese / len(QUESTIONS) < 0.6
    assert len({asked["qid"] for asked in QUESTIONS}) == len(QUESTIONS)
