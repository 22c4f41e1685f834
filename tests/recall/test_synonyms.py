"""Words that mean the same, from words.txt and from the built-in list."""

from __future__ import annotations

import pytest
from pipimem.recall.index import Index
from pipimem.recall.items import items_of
from pipimem.recall.recalling import recall
from pipimem.recall.synonyms import common, learnt
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

from tests.recall.conftest import NOW, notes_from

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
    """Everyday words of home and work are known in both languages, also a Han word of one character."""
    index = Index(words)
    index.update(items_of(notes_from(memory=MEMORY)))
    found = recall(index, ask, now=NOW, synonyms=learnt("", Segmenter(None), words))
    assert found.injected[0].text == finds


def test_what_people_wrote_down_counts_more(words: Words) -> None:
    """A group of words.txt and one of ours name the same pair: the workspace's own share holds."""
    synonyms = learnt("release, 上线\n", Segmenter(None), words)
    (release,) = words.words("release")
    assert synonyms.phrases[(release,)]["上线"] == 0.8
    assert common()[(release,)]["部署"] == 0.6


def test_no_word_stands_in_for_itself() -> None:
    """A group that names one word twice, in two forms of one stem, gives no synonym."""
    assert not [phrase for phrase, others in common().items() if len(phrase) == 1 and phrase[0] in others]
