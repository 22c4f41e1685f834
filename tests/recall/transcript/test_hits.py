"""The same words said again are told once."""

from __future__ import annotations

from pipimem.recall.items import Item, Source
from pipimem.recall.transcript.hits import Hit, HitGroup, grouped
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

WORDS = Words(Segmenter())


def hits(*texts: str) -> list[Hit]:
    """Hits of these texts, best first."""
    return [
        Hit(Item(f"log:{slot}", Source.LOG, "", "", text), 1.0, (), slot, slot + 1)
        for slot, text in enumerate(texts)
    ]


def slots(said: tuple[HitGroup, ...]) -> list[list[int]]:
    """Each group by its slots."""
    return [[one.hit.slot, *(hit.slot for hit in one.again)] for one in said]


def test_copies_go_with_the_best_of_them() -> None:
    """In both languages; what is near but says another thing stays a hit of its own."""
    said = hits(
        "The release window is Thursday at nine",
        "上线窗口是周四晚上九点",
        "the release window is Thursday, at nine!",
        "The rollback script is in the ops folder",
        "上线窗口是周四晚上九点。",
        "The release window is Thursday at nine",
    )
    assert slots(grouped(said, WORDS)) == [[0, 2, 5], [1, 4], [3]]


def test_other_numbers_and_denials_are_no_copies() -> None:
    """They correct what was said."""
    said = hits(
        "the retry limit is 20 now", "the retry limit is 30 now", "the retry limit is not 20 now"
    )
    assert slots(grouped(said, WORDS)) == [[0], [1], [2]]


def test_messages_without_words_are_never_the_same() -> None:
    """Nothing is not the same as nothing."""
    assert slots(grouped(hits("👍", "👍", ""), WORDS)) == [[0], [1], [2]]
    assert grouped([], WORDS) == ()
