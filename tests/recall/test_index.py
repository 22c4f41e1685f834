"""The inverted index, brought up to date by difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.scoring import Term
from pipimem.text.words.index_words import Words

PHRASES = [
    "nimbus gateway port",
    "发布窗口是周二",
    "用pnpm安装依赖",
    "Dana likes tea",
    "port 27085",
    "青鸟报表服务",
    "",
]


def item(name: str, text: str) -> Item:
    """An entry of MEMORY with this text."""
    return Item(f"memory:{name}", Source.MEMORY, "Facts", "", text)


def texts(index: Index, *words: str) -> list[str]:
    """The texts found for these words, best first."""
    totals = index.search([Term(word) for word in words]).totals
    return [index.item(slot).text for slot in sorted(totals, key=lambda slot: -totals[slot])]


def test_a_rare_word_counts_more_than_a_common_one(words: Words) -> None:
    """Everything has a port, one has the name."""
    index = Index(words)
    index.update(
        [item(str(n), f"server{n} has a port") for n in range(9)] + [item("x", "nimbus is up")]
    )
    found = index.search([Term("port"), Term("nimbus")])
    by_text = {index.item(slot).text: value for slot, value in found.totals.items()}
    assert by_text["nimbus is up"] > 2 * by_text["server1 has a port"]


def test_evidence_means_the_same_in_small_and_large_channels(words: Words) -> None:
    """A word that stands in one item counts about 1, among 3 items or 3,000."""
    found = []
    for size in (3, 3_000):
        index = Index(words)
        index.update(
            [item(str(n), f"entry number{n}") for n in range(size)] + [item("x", "the zebra")]
        )
        found.append(max(index.search([Term("zebra")]).totals.values()))
    assert found == pytest.approx([1.11, 1.11], abs=0.02)


def test_a_longer_question_takes_no_evidence_away(words: Words) -> None:
    """Evidence is absolute: words that find nothing cost nothing."""
    index = Index(words)
    index.update([item("a", "nimbus gateway")])
    short = index.search([Term("nimbus")]).totals
    long = index.search([Term("nimbus"), *(Term(f"elsewhere{n}") for n in range(50))]).totals
    assert short == long


def test_a_word_glued_between_chinese_ones_is_found(words: Words) -> None:
    """`用pnpm安装依赖` holds pnpm."""
    index = Index(words)
    index.update([item("a", "用pnpm安装依赖"), item("b", "用npm安装")])
    assert texts(index, "pnpm") == ["用pnpm安装依赖"]


def test_an_unknown_chinese_word_is_found_inside_a_longer_one(words: Words) -> None:
    """A given name inside a full name, half of a compound no dictionary has."""
    index = Index(words)
    index.update([item("a", "缓存预热脚本没人认领"), item("b", "发布窗口")])
    assert texts(index, "存预热") == ["缓存预热脚本没人认领"]


def test_an_unknown_word_is_looked_for_as_misspelt(words: Words) -> None:
    """A slip finds the word and counts less than the word; a known word is never bent into
    another.
    """
    index = Index(words)
    index.update([item("a", "the gateway is up"), item("b", "a gatekeeper")])
    slip, right = index.search([Term("gatewya")]), index.search([Term("gateway")])
    assert [index.item(slot).text for slot in slip.totals] == ["the gateway is up"]
    assert max(slip.totals.values()) < max(right.totals.values())


def test_what_stands_in_the_place_of_a_word_counts_once(words: Words) -> None:
    """An item that holds a word and its synonym counts the better of the two, not both."""
    index = Index(words)
    index.update([item("a", "auto"), item("b", "car"), item("c", "car auto")])
    found = index.search([Term("car", instead=(("auto", 0.8),))])
    by_text = {index.item(slot).text: value for slot, value in found.totals.items()}
    assert by_text["car"] > by_text["auto"]
    assert by_text["car auto"] <= by_text["car"]


def test_changed_trust_costs_no_words(words: Words) -> None:
    """An item that kept its text is the newer value at once, its words untouched."""
    index = Index(words)
    index.update([item("a", "nimbus")])
    bag = index.bag(0)
    index.update([Item("memory:a", Source.MEMORY, "Facts", "", "nimbus", recalls=4)])
    assert index.item(0).recalls == 4
    assert index.bag(0) is bag


def test_parts_do_not_touch_each_other(words: Words) -> None:
    """Bringing one file up to date leaves the items of the others."""
    index = Index(words)
    index.update([item("a", "nimbus")], "memory")
    index.update([item("b", "zebra")], "history")
    index.update([], "memory")
    assert texts(index, "nimbus", "zebra") == ["zebra"]


def test_the_parts_of_evidence_add_up_to_it(words: Words) -> None:
    """Added from left to right the shares are the very number `search` gave."""
    index = Index(words)
    index.update([item(str(n), text) for n, text in enumerate(PHRASES)])
    bag = words.bag("nimbus port 27085 的发布窗口 青鸟")
    found = index.search([Term(word) for word in dict.fromkeys(bag.words)], bag.grams)
    assert len(found.totals) > 1
    for slot, total in found.totals.items():
        added = 0.0
        for matched in found.terms:
            if slot in matched.impacts:
                added += matched.weight * matched.impacts[slot]
        assert added == total


def test_the_floor_leaves_out_only_what_is_below_it(words: Words) -> None:
    """With a floor, everything whose meaningful words reach it is found with the same evidence."""
    index = Index(words)
    index.update(
        [item(str(n), f"service{n} listens on port {n}") for n in range(60)]
        + [item("x", "nimbus port")]
    )
    terms = [Term("nimbus"), Term("port"), Term("listen"), Term("on", 0.4, weak=True)]
    whole, floored = index.search(terms).totals, index.search(terms, floor=0.9).totals
    assert floored.items() <= whole.items()
    assert {slot for slot, value in whole.items() if value >= 0.9} <= floored.keys()


def test_without_a_floor_weak_words_alone_find_something(words: Words) -> None:
    """Who searches on purpose may ask with nothing but common words."""
    index = Index(words)
    index.update([item(str(n), f"the owner of gateway {n}") for n in range(30)])
    terms = [Term(word, 0.4, weak=True) for word in ("gateway", "port", "owner")]
    assert len(index.search(terms).totals) == 30
    assert index.search(terms, floor=0.4).totals == {}


def test_no_words_find_nothing(words: Words) -> None:
    """A question none of whose words stands anywhere."""
    index = Index(words)
    index.update([item("a", "the gateway is up")])
    assert index.search([], floor=0.4).totals == {}


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(PHRASES), max_size=6), max_size=6
    )
)
def test_an_index_brought_up_to_date_is_as_good_as_a_new_one(
    words: Words, states: list[dict[str, str]]
) -> None:
    """Whatever came and went before, only what stands now is found, with the same evidence."""
    old = Index(words)
    for state in states:
        old.update([item(name, text) for name, text in state.items()])
    new = Index(words)
    new.update([item(name, text) for name, text in (states[-1] if states else {}).items()])
    terms = [Term(word) for word in ("nimbus", "port", "pnpm", "发布", "tea", "gatewya", "青鸟")]
    grams = ("~发布", "~青鸟")

    def found(index: Index) -> dict[str, float]:
        return {
            index.item(slot).id: value for slot, value in index.search(terms, grams).totals.items()
        }

    assert found(old) == pytest.approx(found(new))
    assert len(old) == len(new)


def test_the_first_of_a_section_are_kept_up_with_every_change(words: Words) -> None:
    """Items that come, go, and change their kind alone."""

    def entry(name: str, kind: str, recalls: int = 0) -> Item:
        return Item(
            f"memory:{name}", Source.MEMORY, "S", "", f"text of {name}", kind=kind, recalls=recalls
        )

    def firsts() -> list[str]:
        found = index.weightiest(
            frozenset({"decision", Source.HISTORY}), 2, lambda one: (one.recalls, 0)
        )
        return [index.item(slot).id for slot in found]

    index = Index(words)
    index.update(
        [
            entry("a", "decision"),
            entry("b", "fact", 9),
            entry("c", "decision", 2),
            entry("d", "decision", 1),
        ]
    )
    assert firsts() == ["memory:c", "memory:d"]
    index.update([entry("a", "decision"), entry("b", "decision", 9), entry("d", "decision", 1)])
    assert firsts() == ["memory:b", "memory:d"]
    index.update([Item("history:e", Source.HISTORY, "S", "", "text of e")], "history")
    index.update([entry("a", "decision")])
    assert firsts() == ["memory:a", "history:e"]


def test_a_misspelt_word_is_found_where_its_stem_is_cut_differently(words: Words) -> None:
    """The stem of "acountant" is "acount", the right word is not cut at all."""
    index = Index(words)
    index.update([item("a", "our accountant is in"), item("b", "the calendar hangs there")])
    for wrong, right in (
        ("acountant", "our accountant is in"),
        ("calender", "the calendar hangs there"),
    ):
        (stem,) = words.words(wrong)
        terms = [Term(stem, written=words.written(wrong)[stem])]
        (slot,) = index.search(terms).totals
        assert index.item(slot).text == right
        assert texts(index, stem) == []
