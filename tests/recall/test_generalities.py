"""Questions and orders that anybody could be asked by anybody."""

from __future__ import annotations

from datetime import datetime

from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.query import refined
from pipimem.recall.recall import Recall, recall
from pipimem.recall.synonyms import synonyms_in
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each, table

NOW = datetime.fromisoformat("2026-08-20T12:00:00+08:00")
ENTRIES = (
    "Had the kitchen carpet cleaned in May",
    "The marathon is on 13 September",
    "Saw the Mountain Goats with Dev",
    "接口变更要提前两天说",
    "周五上午灰度，只放杭州的医院",
    "合同模板在飞书文档里",
)


def asked(text: str) -> Recall:
    index = Index(Words(Segmenter()))
    index.update(
        Item(f"memory:{place}", Source.MEMORY, "Facts", "", entry)
        for place, entry in enumerate(ENTRIES)
    )
    return recall(index, text, now=NOW)


@each(
    "text",
    table(__file__, "an_order_that_memory_has_no_part_in_is_not_looked_for"),
)
def test_an_order_that_memory_has_no_part_in_is_not_looked_for(text: str) -> None:
    """A joke, a poem, a translation, the weather: whatever they name."""
    assert asked(text).reason == "an order that memory has no part in"


@each(
    "text",
    [
        "how do you get wine out of a carpet?",
        "why do goats climb?",
        "抽象类和接口有什么区别",
        "文档怎么设置双倍行距",
    ],
)
def test_one_word_of_a_question_about_the_world_is_chance(text: str) -> None:
    """Carpets are cleaned everywhere."""
    assert asked(text).candidates == ()


@each(
    ("text", "finds"),
    [
        ("how do we get our carpet clean?", "Had the kitchen carpet cleaned in May"),
        ("how do I get the kitchen carpet cleaned?", "Had the kitchen carpet cleaned in May"),
        ("write a mail to Dev about the goats", "Saw the Mountain Goats with Dev"),
        ("我们的接口怎么改", "接口变更要提前两天说"),
        ("合同模板怎么找", "合同模板在飞书文档里"),
    ],
)
def test_what_is_ours_or_shares_more_is_looked_for(text: str, finds: str) -> None:
    """Who says "our" asks the memory; so does who names two things that stand in one entry."""
    assert finds in [one.item.text for one in asked(text).candidates]


def test_a_long_message_tells_of_something() -> None:
    """The form of a question somewhere in a long message does not make it one about the world."""
    text = "I was at the shop for hours today, " * 8 + "and how do I get the carpet clean?"
    assert not refined(text, Words(Segmenter()), now=NOW).is_general()


def test_who_only_tells_means_no_other_word() -> None:
    """ "I need a holiday" is not about the time off of an entry; who asks may mean it, and who
    says the word means it.
    """
    index = Index(Words(Segmenter()))
    index.update([Item("memory:a", Source.MEMORY, "Facts", "", "The vacation is in Porto")])
    synonyms = synonyms_in("holiday, vacation", index.words)

    def found(text: str) -> int:
        return len(recall(index, text, now=NOW, synonyms=synonyms).candidates)

    assert [
        found(text) for text in ("I need a holiday", "where is the holiday?", "I need a vacation")
    ] == [0, 1, 1]
