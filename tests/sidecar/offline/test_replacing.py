"""Which older statement a newer one takes the place of: two facts of one matter stay two."""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline.replacing import Statement, takes_the_place
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

WORDS = Words(Segmenter())


def replaced(new: str, old: str, kind: Kind = Kind.FACT) -> bool:
    """Whether the newer takes the older's place."""
    return takes_the_place(Statement(new, kind), Statement(old, kind), Weights(WORDS, [new, old]), ("Mel", "林晓"))


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Mel no longer works at the harbour office", "Mel repaired the roof of the harbour office with a friend"),
        ("Mel now keeps the boat key on the shelf", "Mel painted the boat and built a shelf for tools"),
        ("林晓的猫不再吃鱼，改吃鸡肉", "林晓给猫做了一个鱼形的玩具，还装了铃铛"),
    ],
)
def test_a_word_of_change_and_two_shared_words_are_not_enough(new: str, old: str) -> None:
    """Without values on both sides nearly all of the lighter statement must come back."""
    assert not replaced(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The boat race moves to 2026-03-12, 10:00", "The boat race is on 2026-03-10 at 21:00"),
        ("灯塔开放改到周四上午十点", "灯塔开放定在周二晚上九点"),
    ],
)
def test_a_newer_value_of_the_same_thing_is(new: str, old: str) -> None:
    """Both give a value, and the thing is the same."""
    assert replaced(new, old, Kind.DECISION)
