"""What a question is held against before its nearness to an entry means anything."""

from __future__ import annotations

import pytest
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.vectors import Baseline, Vectors, cosines, examples, small_talk, unit
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

LATIN, HAN, QUESTION = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]
YARDSTICK = Baseline.of(
    [
        *(LATIN if text.isascii() else HAN for text in small_talk()),
        *(QUESTION for _ in examples()[len(small_talk()) :]),
    ]
)


def test_each_language_is_measured_by_its_own_talk() -> None:
    """English and Chinese stand apart; the lead is how much nearer the questions for a memory
    are than either.
    """
    chance = YARDSTICK.chance(unit([[3.0, 4.0, 0.0]])[0])
    assert chance == pytest.approx((0.6, 0.8, -0.8))
    assert YARDSTICK.chance(unit([[0.0, 3.0, 4.0]])[0]).lead == pytest.approx(0.8 - 0.6)


def test_no_example_stands_twice_and_both_languages_have_as_many() -> None:
    """One that stood twice would count twice, and the vectors are kept by their texts."""
    assert len(set(examples())) == len(examples())
    latin = sum(text.isascii() for text in small_talk())
    assert abs(2 * latin - len(small_talk())) <= 0.1 * len(small_talk())


def test_vectors_of_another_embedder_are_no_measure() -> None:
    """With another number of numbers nothing is near."""
    assert YARDSTICK.numbers == 3
    index, vectors = Index(Words(Segmenter())), Vectors(b"key")
    index.update([Item("memory:a", Source.MEMORY, "Facts", "", "the kiln takes eleven hours")])
    vectors.learn(vectors.place(index), [[1.0, 0.0]])
    assert vectors.place(index) == []
    assert vectors.near([1.0, 0.0], index, YARDSTICK, 12).margins == {}


def test_a_flag_that_the_arithmetic_leaves_is_no_warning() -> None:
    """Now and then one is left for finite numbers, too: no turn fails for it where warnings are
    errors, as here.
    """
    np = pytest.importorskip("numpy")
    odd = np.array([[np.inf, 1.0], [1.0, 0.0]], dtype=np.float32)
    asked = np.array([0.0, 1.0], dtype=np.float32)
    assert cosines(odd, asked).tolist()[1] == 0.0
