"""Entries and questions as vectors."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.recall import Recall, recall
from pipimem.recall.scoring import scored
from pipimem.recall.vectors import FAR_FROM_ALL, Baseline, Nearness, Vectors, examples, text_hash
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each
from tests.meanings import Toy

NOW = datetime.fromisoformat("2026-08-20T12:00:00+08:00")
ITEMS = (
    Item("memory:a", Source.MEMORY, "Facts", "", "the kiln takes eleven hours"),
    Item("memory:b", Source.MEMORY, "Facts", "", "nobody has seen the broom"),
    Item("history:c", Source.HISTORY, "2026-07", "A visit", "the skylight is cracked"),
)
TOY = Toy()
YARDSTICK = Baseline.of(TOY.passages(examples()))


def index_of(*items: Item) -> Index:
    index = Index(Words(Segmenter()))
    index.update(items)
    return index


def vectors_of(index: Index) -> Vectors:
    vectors = Vectors(b"key")
    texts = vectors.place(index)
    vectors.learn(texts, TOY.passages(texts))
    assert vectors.place(index) == []
    return vectors


def asked(index: Index, vectors: Vectors, text: str) -> Recall:
    nearness = vectors.near(TOY.queries([text])[0], index, YARDSTICK, 12)
    return recall(index, text, now=NOW, nearness=nearness)


def test_what_means_the_same_is_found_without_a_word_in_common() -> None:
    """It is nearer to the question than small talk is; the parts of its score say so and add up
    to it.
    """
    index = index_of(*ITEMS)
    found = asked(index, vectors_of(index), "is the glowbox ready?").candidates
    assert [one.item.id for one in found] == ["memory:a"]
    assert [part.name for part in found[0].parts] == ["near in meaning", "source memory"]
    assert scored(found[0].parts) == found[0].score


def test_talk_stays_without_an_answer() -> None:
    """The nearest entry is no nearer than other talk."""
    index = index_of(*ITEMS)
    found = asked(index, vectors_of(index), "hello, what lovely weather we have today")
    assert (found.candidates, found.injected) == ((), ())
    assert found.reason == "nothing shares a word that matters, or surely means what is asked"


def test_of_two_that_share_a_word_the_one_that_means_it_comes_first() -> None:
    """Meaning adds to the evidence of words; neither hides the other."""
    items = (
        replace(ITEMS[0], text="eleven people came"),
        replace(ITEMS[1], text="eleven brooms stand there"),
    )
    index = index_of(*items)
    assert [
        one.item.id for one in asked(index, vectors_of(index), "eleven sweeper").candidates
    ] == [
        "memory:b",
        "memory:a",
    ]


def test_only_what_changed_lacks_a_vector_and_what_is_gone_loses_it() -> None:
    """Vectors go by the text: an entry that moved keeps its own, one that was reworded is new."""
    index = index_of(*ITEMS)
    vectors = vectors_of(index)
    index.update((replace(ITEMS[0], id="memory:z"), replace(ITEMS[1], text="the broom is back")))
    assert vectors.place(index) == ["the broom is back"]
    assert len(vectors) == 1
    assert vectors.rows([ITEMS[2].searched]) is None


def test_what_was_gone_for_a_moment_keeps_its_vector() -> None:
    """Half a file was read while an editor saved it: only what changed is embedded."""
    index = index_of(*ITEMS)
    vectors = vectors_of(index)
    index.update(ITEMS[:1])
    assert vectors.place(index) == []
    assert len(vectors) == 1
    changed = (*ITEMS[:2], replace(ITEMS[2], text="the skylight was mended"))
    index.update(changed)
    assert vectors.place(index) == [changed[2].searched]
    assert len(vectors) == 2


def test_what_is_forgotten_has_no_vector_any_more() -> None:
    """Nor would it find its own again, or that of an entry that went before it."""
    index = index_of(*ITEMS)
    vectors = vectors_of(index)
    index.update(ITEMS[:2])
    vectors.place(index)
    index.update(ITEMS[:1])
    vectors.place(index, forgets=True)
    index.update(ITEMS)
    assert vectors.place(index) == [item.searched for item in ITEMS[1:]]


def test_what_was_written_is_read_again() -> None:
    """Half the precision is enough: the same entries are sure."""
    index = index_of(*ITEMS)
    first, again = vectors_of(index), Vectors(b"key")
    again.read(first.written())
    assert (first.new, again.place(index)) == (0, [])
    question = TOY.queries(["the pane, please"])[0]
    sure = again.near(question, index, YARDSTICK, 12).sure
    assert sure == first.near(question, index, YARDSTICK, 12).sure != ()
    assert b"skylight" not in first.written()


@settings(deadline=None)  # the first example waits for numpy
@given(st.integers(0, 4), st.integers(0, 3), st.binary(max_size=96))
def test_bytes_that_are_no_vectors_are_left(count: int, dimension: int, rest: bytes) -> None:
    """Nothing is believed that is not whole: so many marks, so many numbers, no more and no
    less.
    """
    vectors = Vectors(b"key")
    vectors.read(count.to_bytes(4, "little") + dimension.to_bytes(4, "little") + rest)
    if not dimension or len(rest) != count * (16 + 2 * dimension):
        assert len(vectors) == 0


@each("cut", [0, 3, 8, 20, -1])
def test_half_a_file_is_left(cut: int) -> None:
    """Its length says so."""
    vectors = Vectors(b"key")
    vectors.read(vectors_of(index_of(*ITEMS)).written()[:cut])
    assert len(vectors) == 0


def test_a_question_of_another_dimension_is_near_to_nothing() -> None:
    """The embedder changed under its name."""
    index = index_of(*ITEMS)
    vectors = vectors_of(index)
    assert vectors.near([1.0, 0.0], index, YARDSTICK, 12) is FAR_FROM_ALL
    with pytest.raises(ValueError, match="vectors of 2 numbers among those of 5"):
        vectors.learn(["new"], [[1.0, 0.0]])


def test_nothing_is_near_in_another_index() -> None:
    """Its slots are those of other items, also while the vectors are placed in a newer one."""
    index = index_of(*ITEMS)
    vectors = vectors_of(index)
    question = TOY.queries(["is the glowbox ready?"])[0]
    assert vectors.near(question, index.copy(), YARDSTICK, 12) is FAR_FROM_ALL


def test_a_mark_needs_the_channels_key() -> None:
    """Nobody finds out by trying which texts a channel has."""
    assert text_hash("the code is 1234", b"one") != text_hash("the code is 1234", b"other")


def test_a_lone_word_of_what_resembles_talk_is_chance() -> None:
    """Unless the entry is near to it; a message of that one word alone is looked for."""
    index = index_of(
        Item("memory:a", Source.MEMORY, "Facts", "", "the penguin statue stands in the hall")
    )
    slot = next(slot for slot, _ in index.slots())

    def found(text: str, margin: float, lead: float) -> int:
        return len(
            recall(
                index, text, now=NOW, nearness=Nearness({slot: margin}, bar=1.0, lead=lead)
            ).candidates
        )

    assert found("that penguin dances", -0.05, -0.02) == 0
    assert found("that penguin dances", -0.05, 0.01) == 1
    assert found("that penguin dances", 0.02, -0.02) == 1
    assert found("penguin", -0.05, -0.02) == 1


def test_a_question_about_the_world_must_mean_an_entry_all_the_more_surely() -> None:
    """What would be just near enough for a question about what is ours is not, for one of that
    form.
    """
    index = index_of(*ITEMS)
    slot = next(slot for slot, _ in index.slots())
    near = Nearness({slot: 0.02}, (slot,), bar=0.01, nearest=(slot,))
    assert recall(index, "why do glowboxes hum?", now=NOW, nearness=near).candidates == ()
    assert len(recall(index, "why do our glowboxes hum?", now=NOW, nearness=near).candidates) == 1
