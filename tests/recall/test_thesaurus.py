"""Words that mean the same anywhere: the texts people write, and what is made of them for
looking up.
"""

from __future__ import annotations

import pytest
from pipimem import resources
from pipimem.recall.thesaurus import Thesaurus, compiled
from pipimem.text.words.index_words import Words

GROUPS = """# shipping
release, ship, 发布, roll out, merge request
~ give, hand over, 给
pet, 宠物: dog, 猫
"""


@pytest.fixture
def thesaurus(words: Words) -> Thesaurus:
    """The four groups, compiled."""
    return Thesaurus(compiled([GROUPS], words))


def _others(thesaurus: Thesaurus, word: str) -> dict[tuple[str, ...], dict[str, float]]:
    return {phrase: dict(others) for phrase, others in thesaurus.begun_by(word)}


def test_the_words_of_a_group_stand_in_for_each_other(thesaurus: Thesaurus) -> None:
    """As the words of the index: stemmed, two words that are also written as one joined, a
    phrase by its words.
    """
    shipping = {"releas": 0.6, "rollout": 0.6, "merg request": 0.6, "发布": 0.6}
    assert _others(thesaurus, "ship") == {("ship",): shipping}
    assert _others(thesaurus, "merg") == {
        ("merg", "request"): {"releas": 0.6, "ship": 0.6, "rollout": 0.6, "发布": 0.6}
    }


def test_a_kind_finds_what_is_of_it_and_not_the_other_way_round(thesaurus: Thesaurus) -> None:
    """Who asks for pets means the cat; who asks for the cat means no other pet. A lone character
    is a gram.
    """
    assert _others(thesaurus, "宠物") == {("宠物",): {"dog": 0.4, "~猫": 0.4}}
    assert _others(thesaurus, "dog") == {}


def test_words_of_any_talk_count_less(thesaurus: Thesaurus) -> None:
    """A group marked with a tilde is too little to be evidence alone."""
    assert _others(thesaurus, "give") == {("give",): {"handov": 0.3, "~给": 0.3}} or _others(
        thesaurus, "give"
    ) == {("give",): {"handov": 0.3}}


@pytest.mark.parametrize("phrase", ["turn off", "不舒服", "not working"])
def test_a_phrase_that_hangs_on_a_stop_word_is_left_out(phrase: str, words: Words) -> None:
    """Without it, it would say something else."""
    assert _others(Thesaurus(compiled([f"{phrase}, zebra"], words)), "zebra") == {}


@pytest.mark.slow
def test_a_checkout_compiles_its_texts_once(words: Words) -> None:
    """The first start compiles them, the next one finds them in the user's cache; a wheel has
    them beside the texts.
    """
    first = resources.thesaurus(lambda texts: compiled(texts, words))
    assert first == compiled(resources.thesaurus_texts(), words)
    assert resources.thesaurus(lambda _: "compiled again") == first


def test_no_word_stands_in_for_itself(words: Words) -> None:
    """A group that names one word twice, in two forms of one stem, gives no synonym."""
    assert _others(Thesaurus(compiled(["buy, bought"], words)), "buy") == {}
