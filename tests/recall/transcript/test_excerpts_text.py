"""Messages made short."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pipimem.recall.items import Item, Source
from pipimem.recall.transcript.excerpts import excerpt, headed
from pipimem.text.token_count import estimate
from pipimem.text.words.index_words import Words


def test_a_short_message_stands_as_it_is(words: Words) -> None:
    """On one line."""
    assert excerpt("nine\n o'clock", [], words) == "nine o'clock"


@pytest.mark.parametrize(
    ("filler", "sentence", "question"),
    [
        ("It rains. ", "The ferry to Zanzibar leaves at nine.", "zanzibar ferry"),
        ("今天下雨。", "轮渡九点开往桑给巴尔。", "轮渡几点"),
    ],
)
def test_of_a_long_message_the_sentence_asked_for_is_shown(
    words: Words, filler: str, sentence: str, question: str
) -> None:
    """With what follows, in about 60 tokens; both languages."""
    shown = excerpt(filler * 60 + sentence + filler * 60, words.words(question), words)
    assert shown.startswith("…" + sentence)
    assert 30 < estimate(shown) < 80


def test_at_the_end_of_a_message_what_stands_before_is_shown_too(words: Words) -> None:
    """Rather than little."""
    shown = excerpt("It rains. " * 60 + "The ferry leaves.", words.words("ferry"), words)
    assert shown.startswith("…")
    assert shown.endswith("It rains. The ferry leaves.")


def test_a_message_says_when_and_by_whom() -> None:
    """As far as it is known."""
    when = datetime(2026, 3, 12, 9, 30, tzinfo=UTC)
    assert (
        headed(Item("log:a", Source.LOG, "", "", "", when, speaker="Ana"), "hi")
        == "2026-03-12 09:30 Ana: hi"
    )
    assert headed(Item("log:a", Source.LOG, "", "", "", role="tool"), "hi") == "tool: hi"
    assert headed(Item("history:a", Source.HISTORY, "", "", ""), "hi") == "hi"
    long = Item("log:a", Source.LOG, "", "", "", speaker="名" * 3_000)
    assert headed(long, "hi") == "名" * 79 + "…: hi"


class CountedWords(list[str]):
    """Words that count how often they are gone through."""

    rounds = 0

    def __iter__(self) -> Iterator[str]:
        self.rounds += 1
        return super().__iter__()


def test_the_words_asked_for_are_gone_through_once(words: Words) -> None:
    """For each of many sentences it would take time in the square of a long question."""
    wanted = CountedWords(words.words("zanzibar ferry"))
    excerpt("It rains. " * 60 + "The ferry leaves at nine. " + "It rains. " * 60, wanted, words)
    assert wanted.rounds == 1
