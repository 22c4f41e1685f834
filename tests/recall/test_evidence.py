"""The strongest items, found without adding up everything."""

from __future__ import annotations

import heapq
import random

import pytest
from pipimem.recall.evidence import Reached, Term, size_of
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.text.words import Words

COMMON = ("gateway", "billing", "cache", "订单", "支付", "数据库", "port", "owner", "备份", "值班")
# So many items that adding up everything is no longer the shorter way.
ITEMS = 1_500


def crowd(words: Words, dice: random.Random) -> Index:
    """Items of a few common words each, now and then one twice; every tenth has a word of its own."""
    index = Index(words)
    texts = [" ".join(dice.choices(COMMON, k=dice.randint(1, 9)) + [f"thing{n}"] * (n % 10 == 0)) for n in range(ITEMS)]
    index.update([Item(f"memory:{n}", Source.MEMORY, "Facts", "", text) for n, text in enumerate(texts)])
    return index


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("floor", "share"), [(0.0, 0.0), (0.4, 0.0), (0.4, 0.3)])
def test_the_strongest_are_those_of_the_whole_sum(words: Words, seed: int, floor: float, share: float) -> None:
    """The same items with the same evidence in the same order, whatever is passed over on the way."""
    dice = random.Random(seed)
    index = crowd(words, dice)
    for _ in range(20):
        asked = dice.sample(COMMON, k=dice.randint(1, 6)) + [f"thing{dice.randint(0, ITEMS)}"] * dice.randint(0, 2)
        bag = words.bag(" ".join(asked))
        terms = [Term(word, weak=dice.random() < 0.3) for word in dict.fromkeys(bag.words)]
        whole = heapq.nlargest(24, index.search(terms, bag.grams, floor=floor).totals.items(), key=lambda one: one[1])
        best = whole[0][1] if whole else 0.0
        found = [*index.strongest(terms, bag.grams, 24, floor=floor, share=share).totals.items()]
        assert [one for one in found if one[1] >= share * best] == [one for one in whole if one[1] >= share * best]


def test_without_a_floor_weak_words_alone_find_something(words: Words) -> None:
    """Who searches on purpose may ask with nothing but common words."""
    index = crowd(words, random.Random(1))
    terms = [Term(word, 0.4, weak=True) for word in ("gateway", "port", "owner")]
    whole = heapq.nlargest(24, index.search(terms).totals.items(), key=lambda one: one[1])
    assert len(whole) == 24
    assert [*index.strongest(terms, (), 24).totals.items()] == whole


def test_a_size_tells_short_items_apart_and_long_ones_not() -> None:
    """Beyond the length at which an item is punished no further, all are of one size."""
    assert size_of(3, 4) != size_of(4, 3)
    assert size_of(200, 4) == size_of(300, 4)


def test_no_words_find_nothing() -> None:
    """A question none of whose words stands anywhere."""
    assert Reached.of([]).strongest([], 24, floor=0.4, share=0.3) == {}
