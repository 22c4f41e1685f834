"""Words that mean the same, from words.txt and from the built-in list."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from pipimem.recall.index import Index
from pipimem.recall.recall import recall
from pipimem.recall.scoring import Term
from pipimem.recall.synonyms import (
    LONGEST_PHRASE,
    MOST_IN_A_GROUP,
    Synonyms,
    common,
    load_synonyms,
    passed_over,
    synonyms_in,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.recall.conftest import NOW, items_of, notes_from

MEMORY = """## Facts

- The on-call rotation changes every Wednesday
- 生产环境的数据库每天凌晨三点备份
- Our landlord is Mr. Okafor
- The cat is called Wasabi
- 双十一前两周不发版
"""


@pytest.mark.parametrize(
    ("ask", "finds"),
    [
        ("值班什么时候轮换", "The on-call rotation changes every Wednesday"),
        ("when is the database backed up", "生产环境的数据库每天凌晨三点备份"),
        ("房东是谁", "Our landlord is Mr. Okafor"),
        ("家里的猫是什么名字", "The cat is called Wasabi"),
        ("can we release before double eleven?", "双十一前两周不发版"),
    ],
)
def test_an_entry_is_found_in_the_other_language(ask: str, finds: str, words: Words) -> None:
    """Everyday words of home and work are known in both languages, also a Han word of one
    character.
    """
    index = Index(words)
    index.update(items_of(notes_from(memory=MEMORY)))
    found = recall(index, ask, now=NOW, synonyms=load_synonyms("", Segmenter(), words))
    assert found.injected[0].text == finds


@pytest.mark.parametrize(
    ("ask", "finds"),
    [
        ("who has a cat?", "茉莉养了一只猫"),
        ("what came out of the RCA?", "The root cause analysis blamed the DNS cache"),
        ("能不能居家办公", "WFH is fine on Fridays"),
        ("how do I log in", "登录要先连公司网络"),
    ],
)
def test_an_entry_is_found_by_more_than_single_words(ask: str, finds: str, words: Words) -> None:
    """A lone Han character, a phrase, or a word that is written as two may stand in an entry for
    what was asked.
    """
    memory = """## Facts

- 茉莉养了一只猫
- The root cause analysis blamed the DNS cache
- WFH is fine on Fridays
- 登录要先连公司网络
"""
    index = Index(words)
    index.update(items_of(notes_from(memory=memory)))
    found = recall(index, ask, now=NOW, synonyms=load_synonyms("", Segmenter(), words))
    assert found.injected[0].text == finds


def test_what_people_wrote_down_counts_more(words: Words) -> None:
    """A group of words.txt and one of ours name the same pair: the workspace's own share holds."""
    (release,) = words.words("release")
    assert _share(load_synonyms("release, 上线\n", Segmenter(), words), release, "上线") == 0.8
    assert _share(common(), release, "发版") == 0.6


def test_one_entry_word_answers_for_one_word_of_the_question(words: Words) -> None:
    """Two words of one meaning in a question are not twice the evidence for an entry that has a
    third.
    """
    terms = common().added([Term(word) for word in words.words("photo picture")])
    assert [term.word for term in terms if "照片" in dict(term.instead)] == ["photo"]


def _share(synonyms: Synonyms, word: str, other: str) -> float:
    (term,) = synonyms.added([Term(word)])
    return dict(term.instead)[other]


def test_a_text_in_the_place_of_a_word_is_passed_over(words: Words) -> None:
    """The tokenizer keeps every beginning of a word: one line of 8,000 characters took 40 s."""
    learner = Learner()
    load_synonyms(f"灯笼计划\n{'字' * 8_000}\n{'字' * LONGEST_PHRASE}, 词\n", learner, words)
    assert learner.learnt == ["灯笼计划", "字" * LONGEST_PHRASE, "词"]


def test_of_a_group_so_many_stand_for_each_other(words: Words) -> None:
    """A pasted line of 100,000 words would have each stand for each other."""
    text = ", ".join(f"alpha{number}" for number in range(10 * MOST_IN_A_GROUP))
    found = synonyms_in(text, words).phrases
    pairs = sum(len(others) for group in found.values() for others in group.values())
    assert len(found) == MOST_IN_A_GROUP
    assert pairs < 3 * MOST_IN_A_GROUP**2
    assert passed_over(f"{text}\n{'字' * 100}") == (1, 9 * MOST_IN_A_GROUP)


class Learner(Segmenter):
    """A segmenter that tells what it was taught."""

    def __init__(self) -> None:
        super().__init__()
        self.learnt: list[str] = []

    def add_words(self, words: Iterable[str]) -> None:
        """Keeps them."""
        self.learnt += words


def test_a_part_of_a_phrase_does_not_stand_for_the_group() -> None:
    """The template says that staging is 测试环境; neither a test nor an environment is staging."""
    segmenter = Segmenter()
    words = Words(segmenter)
    synonyms = load_synonyms("预发, 测试环境, staging\nmerge request, MR\n", segmenter, words)
    memory = "- 预发每天凌晨重启\n- the MR needs two reviews\n"
    index = Index(words)
    index.update(items_of(notes_from(memory=f"## Facts\n\n{memory}")))

    def found(ask: str) -> list[str]:
        return [item.text for item in recall(index, ask, now=NOW, synonyms=synonyms).injected]

    assert found("测试环境什么时候重启") == ["预发每天凌晨重启"]
    assert found("测试怎么样了") == []
    assert found("我们的环境在哪里") == []
    assert found("who reviews a merge request?") == ["the MR needs two reviews"]
