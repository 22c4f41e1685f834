"""Questions and answers that only together say something."""

from __future__ import annotations

import pytest
from pipimem.sidecar.offline.answering import answered
from pipimem.sidecar.offline.sentences import sentences
from tests.sidecar.conftest import said


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("How long have you been sailing?", "Seven years now, time flies!", "Mel has been sailing for seven years"),
        ("How long have you had the boat?", "Since 2019, it was my dad's.", "Mel has had the boat since 2019"),
        (
            "Who is on call after the launch?",
            "I'll take it, until Sunday.",
            "Mel is on call after the launch (until Sunday)",
        ),
        ("Who has the harbour side?", "Me.", "Mel has the harbour side"),
        ("明天谁来续证书？", "我来", "明天Mel续证书"),
    ],
)
def test_how_long_and_who_become_statements(question: str, answer: str, text: str) -> None:
    """By the one who answered, resting on both messages."""
    (got,) = answered(sentences([said(1, question, "Dana"), said(2, answer, "Mel")]))
    assert got.text == text
    assert got.sources == ("m1", "m2")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How long have you had it?", "Seven years now."),  # had what?
        ("How long have you been sailing?", "I love the sea."),
        ("Who is on call after the launch?", "No idea."),
        ("谁请客？", "不知道"),
    ],
)
def test_what_is_not_answered_or_not_named_says_nothing(question: str, answer: str) -> None:
    """Better nothing than a wrong sentence."""
    assert answered(sentences([said(1, question, "Dana"), said(2, answer, "Mel")])) == []
