"""Two texts about the same thing share words, and texts about nothing share none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.words import index_words as words_module
from pipimem.text.words.index_words import Bag, Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import table

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "words.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(Segmenter())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['say']}: {case['text'][:20]}")
def test_the_words_of_a_text(case, words):
    """Each case says what is shown and which words the index sees."""
    assert words.words(case["text"]) == case["words"].split()


@pytest.mark.parametrize(
    ("query", "text"),
    table(__file__, "a_query_meets_its_text"),
)
def test_a_query_meets_its_text(query, text, words):
    """Case, script, inflection and the way a date is written do not matter."""
    assert set(words.words(query)) & set(words.words(text))


@pytest.mark.parametrize(
    "text", ["", "什么时候", "怎么办呢", "what is it", "没有", "not at all", "🎉", "好的，谢谢！"]
)
def test_stop_words_alone_are_an_empty_bag(text, words):
    """There is nothing to look for, in words and in grams."""
    assert words.bag(text) == Bag(negations=words.bag(text).negations)


def test_grams_never_equal_words(words):
    """The weaker stream is marked, so one index can hold both."""
    bag = words.bag("安装 installation")
    assert bag.words == ("安装", "instal")
    assert bag.grams[0] == "~安装"
    assert bag.grams[1:4] == ("~ins", "~nst", "~sta")
    assert all(gram.startswith("~") for gram in bag.grams)


def test_a_typo_shares_most_grams(words):
    """A slip of the finger leaves no common word, but common trigrams."""
    right, wrong = words.bag("deployment"), words.bag("deploymnet")
    assert not set(right.words) & set(wrong.words)
    assert len(set(right.grams) & set(wrong.grams)) >= 5


def test_pairs_cross_the_borders_of_words(words):
    """A compound the dictionary cuts elsewhere is still found, and a pair of stop words is not."""
    assert words.bag("我们的线窗").grams == ("~线", "~的线", "~线窗", "~窗")


def test_a_single_content_word_is_a_gram(words):
    """ "你的猫" has no word of two characters, yet it asks for something."""
    assert words.bag("你的猫") == Bag((), ("~猫", "~的猫"), 0)


@pytest.mark.parametrize(
    ("text", "count"), [("不喜欢香菜", 1), ("I don't like it", 1), ("never", 1), ("喜欢香菜", 0)]
)
def test_negations_are_counted(text, count, words):
    """They are no evidence, but they turn a sentence round."""
    assert words.bag(text).negations == count


def test_what_is_remembered_is_bounded(words, monkeypatch):
    """A flood of new words empties the memory, and changes no result."""
    text = " ".join(f"word{number}" for number in range(50))
    unbounded = words.words(text)
    monkeypatch.setattr(words_module, "_REMEMBERED_CHUNKS", 10)
    words._chunks.clear()
    assert words.words(text) == unbounded
    assert len(words._chunks) <= 10


@given(st.text(max_size=60))
def test_any_text_has_words_in_lower_case_without_spaces(text):
    """No text is refused, no word is empty, and the same text gives the same bag."""
    bag = LATIN_ONLY.bag(text)
    assert all(word and not any(c.isspace() for c in word) for word in bag.words)
    assert not any(word.startswith("~") for word in bag.words)
    assert LATIN_ONLY.bag(text) == bag


class _NoHan(Segmenter):
    """Spares the property above the dictionary."""

    def cut(self, text: str) -> list[str]:
        return list(text)

    def inner(self, word: str) -> list[str]:
        return []


LATIN_ONLY = Words(_NoHan())


def test_each_stretch_of_a_long_line_is_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line with more different ones than are remembered all were cut twice."""
    words, cut = Words(Segmenter()), []
    latin = words._latin

    def counted(chunk: str) -> Bag:
        cut.append(chunk)
        return latin(chunk)

    monkeypatch.setattr(Words, "_latin", lambda _, chunk: counted(chunk))
    assert words.words(" ".join(f"part{n}" for n in range(25_000)))
    assert len(cut) == 25_000


def test_words_are_known_as_written_where_their_stem_is_another(words: Words) -> None:
    """For who looks for a misspelt one; numbers, identifiers and Chinese have no stem."""
    written = words.written("The Acountants of 青鸟 use billing_v2 on Mondays, tea at 10")
    assert written == {"acount": "acountants", "monday": "mondays"}
