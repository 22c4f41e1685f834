"""The questions about notes: each names an entry that is there, once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from benchmarks.baseline.notes_recall import CASES

from tests.cases import each

SETS = ("unseen", "blind", "third", "fourth")


def _questions(name: str) -> list[dict[str, object]]:
    lines = (CASES / name / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _entries(folder: Path) -> list[str]:
    """Return the lines of the notes of a channel."""
    return [
        line
        for path in sorted(folder.glob("*.md"))
        for line in path.read_text("utf-8").splitlines()
    ]


@each("name", SETS)
def test_an_answer_stands_in_one_entry(name: str) -> None:
    """A gold text is in exactly one line of the channel's notes; only talk has no gold text."""
    wrong = []
    for asked in _questions(name):
        gold = asked.get("gold_text", [])
        assert isinstance(gold, list)
        lines = _entries(CASES / name / "workspace" / "channels" / str(asked["channel"]))
        held = [sum(text in line for line in lines) for text in gold]
        if set(held) - {1} or (asked["kind"] in {"none", "none-near"}) != (not gold):
            wrong.append(asked["qid"])
    assert wrong == []


@each("name", SETS)
def test_half_of_the_questions_are_chinese(name: str) -> None:
    """Neither language has more than six of ten; every question has an id of its own."""
    asked = _questions(name)
    assert 0.4 < sum(one["lang"] == "zh" for one in asked) / len(asked) < 0.6
    assert max(Counter(str(one["qid"]) for one in asked).values()) == 1
