"""Things said twice, shown once; things that only sound alike, shown both."""

from __future__ import annotations

import pytest
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.recalling import recall
from pipimem.text.words import Words

from tests.recall.conftest import NOW


def shown(words: Words, question: str, *texts: str) -> set[str]:
    """The texts of the entries that a question brings."""
    index = Index(words)
    index.update(
        [
            Item(f"memory:{number}", Source.MEMORY, "Facts", "", text)
            for number, text in enumerate(texts)
        ]
        + [
            Item(f"memory:other{number}", Source.MEMORY, "Facts", "", f"something else {number}")
            for number in range(30)
        ]
    )
    return {one.item.text for one in recall(index, question, now=NOW).candidates}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The backup server A is in the Berlin data centre.",
            "The backup server B is in the Berlin data centre.",
        ),
        (
            "The backup server listens on port 8080 in Berlin.",
            "The backup server listens on port 9090 in Berlin.",
        ),
        (
            "Alice keeps the key of the backup server room.",
            "Bob keeps the key of the backup server room.",
        ),
        (
            "The backup server room is locked by plan b every night.",
            "The backup server room is locked by plan c every night.",
        ),
        (
            "The backup server runs node_exporter behind the proxy.",
            "The backup server runs db_exporter behind the proxy.",
        ),
        ("备份服务器机房的钥匙由王芳保管", "备份服务器机房的钥匙由李强保管"),
    ],
)
def test_a_name_a_number_or_a_letter_makes_another_fact(words: Words, one: str, other: str) -> None:
    """Hardly a word differs, and it is the one that matters: both are shown."""
    question = (
        "备份服务器机房的钥匙"
        if not one.isascii()
        else "tell me about the backup server, its room and data centre"
    )
    assert shown(words, question, one, other) == {one, other}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The backup server is in the Berlin data centre.",
            "The backup server is in the Berlin data centre!",
        ),
        (
            "The backup server stands in the Berlin data centre.",
            "the backup server stands in the Berlin data centres",
        ),
        ("备份服务器机房的钥匙在前台", "备份服务器机房的钥匙在前台。"),
    ],
)
def test_what_is_said_twice_is_shown_once(words: Words, one: str, other: str) -> None:
    """Other endings, case and punctuation make no other fact."""
    question = (
        "备份服务器机房的钥匙"
        if not one.isascii()
        else "tell me about the backup server and its data centre"
    )
    assert len(shown(words, question, one, other)) == 1


def test_who_said_it_and_when_make_no_other_fact(words: Words) -> None:
    """The better of two is shown; the file still has both."""
    one = "Dana (2026-03-02): The backup server stands in the Berlin data centre"
    other = "Priya (2026-04-09): The backup server stands in the Berlin data centre"
    assert len(shown(words, "the backup server in the Berlin data centre", one, other)) == 1


def test_what_two_people_say_of_themselves_are_two_facts(words: Words) -> None:
    """ "I" is somebody else each time."""
    one = "Dana (2026-03-02): I keep the key of the backup server room in Berlin"
    other = "Priya (2026-03-02): I keep the key of the backup server room in Berlin"
    assert shown(words, "the key of the backup server room in Berlin", one, other) == {one, other}
