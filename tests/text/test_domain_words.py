"""Han words younger than the dictionary."""

from __future__ import annotations

from pipimem.text.domain_words import BY_FIRST_CHARACTER
from pipimem.text.segmentation import Segmenter


def test_each_word_stays_whole_in_a_sentence() -> None:
    """Also between other words; and what it is made of can still be found."""
    segmenter = Segmenter()
    every = [word for words in BY_FIRST_CHARACTER.values() for word in words]
    assert [word for word in every if word not in segmenter.cut(f"我们在{word}以后再说")] == []
    assert segmenter.inner("消息队列") == ["消息", "队列"]
