"""Answers that are remembered for a minute."""

from __future__ import annotations

from datetime import timedelta

from pipimem.recall.recalling import Recall
from pipimem.recall.refinement import Query
from pipimem.recall.remembering import Answers

from tests.recall.conftest import NOW

FOUND = Recall(Query("port"))
ASKED = ("port", "alice")


def test_a_question_asked_again_has_its_answer() -> None:
    """Within the minute, whoever asked."""
    answers = Answers()
    assert answers.to(ASKED, NOW) is None
    answers.keep(ASKED, NOW, FOUND)
    assert answers.to(ASKED, NOW + timedelta(seconds=59)) is FOUND
    assert answers.to(("port", "bob"), NOW) is None


def test_after_a_minute_or_another_day_it_is_asked_anew() -> None:
    """Recency and "today" count from the question."""
    answers = Answers()
    answers.keep(ASKED, NOW, FOUND)
    assert answers.to(ASKED, NOW + timedelta(seconds=60)) is None
    assert answers.to(ASKED, NOW - timedelta(seconds=1)) is None
    midnight = NOW.replace(hour=23, minute=59, second=50)
    answers.keep(ASKED, midnight, FOUND)
    assert answers.to(ASKED, midnight + timedelta(seconds=15)) is None


def test_only_the_last_answers_are_kept() -> None:
    """A host that never asks twice costs no more and no more room."""
    answers = Answers()
    for number in range(101):
        answers.keep((number,), NOW, FOUND)
    assert answers.to((0,), NOW) is None
    assert answers.to((1,), NOW) is FOUND
