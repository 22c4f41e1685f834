"""What was found out about a text is kept with the words by which it is cut, and goes with them."""

from __future__ import annotations

import gc
from weakref import ref

from pipimem.text.words.index_words import Words
from pipimem.text.words.remembered import remembered
from pipimem.text.words.segmentation import Segmenter


def test_each_words_have_answers_of_their_own_and_each_is_found_once():
    """Of the last two texts; another one is asked anew."""
    asked: list[tuple[str, Words]] = []

    @remembered(2)
    def found(text: str, words: Words) -> list[str]:
        asked.append((text, words))
        return words.words(text)

    one, other = Words(Segmenter()), Words(Segmenter())
    assert found("the lantern", one) is found("the lantern", one)
    assert found("the lantern", other) == ["lantern"]
    assert asked == [("the lantern", one), ("the lantern", other)]
    for text in ("a box", "a lamp", "the lantern"):
        found(text, one)
    assert asked[2:] == [("a box", one), ("a lamp", one), ("the lantern", one)]
    assert found.__name__ == "found"


def test_words_that_nobody_uses_are_gone_with_their_answers():
    """Also where one function asks another of the same words."""

    @remembered(10)
    def inner(text: str, words: Words) -> tuple[str, ...]:
        return tuple(words.words(text))

    @remembered(10)
    def outer(text: str, words: Words) -> tuple[str, ...]:
        return inner(text.upper(), words)

    words = Words(Segmenter())
    assert outer("灯笼 lantern", words) == ("灯笼", "lantern")
    held = ref(words)
    del words
    gc.collect()
    assert held() is None
