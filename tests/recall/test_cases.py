"""The questions in tests/recall/cases/questions.jsonl, asked of the notes beside them."""

from __future__ import annotations

import json

import pytest
from pipimem.recall.index import Index
from pipimem.recall.recall import recall

from tests.recall.conftest import CASES, NOW

QUESTIONS = [
    json.loads(line)
    for line in (CASES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", QUESTIONS, ids=[case["ask"][:40] for case in QUESTIONS])
def test_a_question_finds_what_it_should(case: dict[str, str], index: Index) -> None:
    """`first` stands in the best item, `finds` in one that is injected, `silent` finds nothing
    at all.
    """
    found = recall(index, case["ask"], now=NOW, speaker=case.get("speaker", ""))
    texts = [item.text for item in found.injected]
    if "silent" in case:
        assert [candidate.item.text for candidate in found.candidates] == []
        assert found.context(b"abcdef") == ""
        assert found.reason != ""
    elif "first" in case:
        assert texts, found.reason
        assert case["first"] in texts[0]
    else:
        assert any(case["finds"] in text for text in texts), texts
