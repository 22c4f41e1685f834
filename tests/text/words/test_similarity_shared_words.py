"""How much texts share with a long one."""

from __future__ import annotations

import pytest
from pipimem.text.words.similarity import shared_words_with_each, shares_new_words


def shared_words(texts: list[str], other: str) -> list[float]:
    """What each of the texts shares with another one."""
    [weights] = shared_words_with_each(texts, [other])
    return [weights.get(index, 0) for index in range(len(texts))]


def test_a_rare_word_weighs_more_than_a_name_that_stands_everywhere() -> None:
    """Dana is in every text and message; the boiler is what one message is about."""
    texts = ["Dana likes Dana's tea", "Dana fixed a boiler", "Dana has a dog"]
    talk = ["Dana: hello", "Dana: the boiler broke again", "Dana: your dog!"]
    found = [
        max(weights, key=weights.__getitem__) for weights in shared_words_with_each(texts, talk)
    ]
    assert [texts[index] for index in found[1:]] == ["Dana fixed a boiler", "Dana has a dog"]


def test_a_word_of_very_many_texts_is_left_out() -> None:
    """A name in more than 50 texts says little; in a small memory it may tell two entries apart."""
    for count, shares in ((50, True), (51, False)):
        texts = [f"Dana owns house{number}" for number in range(count)]
        [weights] = shared_words_with_each(texts, ["Dana: hello"])
        assert bool(weights) is shares


def test_a_date_takes_nothing_from_a_text() -> None:
    """Messages do not say their own date: a text with one is as near as the same without."""
    plain, dated = shared_words(
        ["Tom applies for the flat", "Tom applies for the flat by 06-09"], "Tom applied for it"
    )
    assert plain == dated > 0


def test_words_meet_in_other_forms() -> None:
    """English by its stem, Chinese by pairs of simplified characters, numbers whole."""
    assert shared_words(["Tom is rehearsing"], "we rehearsed")[0] > 0
    assert shared_words(["新的資料庫"], "数据和资料库")[0] > 0
    assert shared_words(["the port is 9090"], "why 9090?")[0] > 0
    assert shared_words(["the port is 9090", "", "的"], "the 909 is") == [0, 0, 0]


@pytest.mark.parametrize(
    ("old", "new", "said", "is_said"),
    [
        ("the port is 9090", "the port is 8080", "8080 please", True),
        ("the port is 9090", "the port is 8080", "the port, please", False),
        ("Tom deploys on Fridays", "Tom deploys on Tuesdays", "make it Tuesday", True),
        ("we deploy it", "we never deploy it", "no more deploying", True),
        ("we deploy it", "we never deploy it", "is it not nice today?", False),
        ("部署在周五", "部署在周二", "改到周二", True),
        ("部署在周五", "部署在周二", "今天天气好", False),
    ],
)
def test_what_is_new_in_a_text_was_said(old: str, new: str, said: str, is_said: bool) -> None:
    """Words that came in; if only a denial or grammar changed, any word of the text."""
    assert shares_new_words(old, new, [said]) is is_said
