"""Chat English made whole: the subject is put back only where it is surely "I"."""

from __future__ import annotations

import pytest
from pipimem.sidecar.offline.subjects import made_whole


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Just got back from the lighthouse", "I just got back from the lighthouse"),
        ("Been busy repairing the boat", "I've been busy repairing the boat"),
        ("Gonna repaint the hull", "I'm going to repaint the hull"),
        ("Researching old sails for the museum", "I'm researching old sails for the museum"),
        ("Quite a week - had a talk at the harbour", "Quite a week - I had a talk at the harbour"),
        ("I miss my fam 'cause they're far & busy", "I miss my family because they're far and busy"),
    ],
)
def test_who_did_it_is_put_back(text: str, whole: str) -> None:
    """Deeds, what goes on, plans, and slang spelled out."""
    assert made_whole(text) == whole


@pytest.mark.parametrize(
    "text",
    [
        "Working on boats makes me happy",
        "Read lots and try everything",
        "Going to be a great night",
        "Got it, thanks",
        "Painting is my favourite hobby",
    ],
)
def test_what_may_be_about_something_else_stays(text: str) -> None:
    """A gerund as subject, an imperative, a wish, an answer."""
    assert made_whole(text) == text
