"""Questions refined to what is worth looking for."""

from __future__ import annotations

import pytest
from pipimem.recall.query import Query, refined
from pipimem.text.words.index_words import Words

from tests.cases import table
from tests.recall.conftest import NOW


@pytest.fixture
def ask(words: Words):
    """`refined` on the automatic path."""

    def asked(text: str, speaker: str = "") -> Query:
        return refined(text, words, now=NOW, speaker=speaker)

    return asked


def weights(query: Query) -> dict[str, float]:
    """The words of a query and what they weigh."""
    return {term.word: term.weight for term in query.terms}


def test_orders_go_and_things_stay(ask) -> None:
    """ "Check the nimbus log for me" is about nimbus and its log."""
    assert set(weights(ask("please check the nimbus log"))) == {"nimbus", "log"}
    assert "查" not in weights(ask("帮我查一下青鸟的告警"))


def test_quoted_and_named_things_weigh_more(ask) -> None:
    """What stands in quotes, 「」 or 《》, a path, an address and an identifier is what is meant."""
    assert weights(ask("「青鸟」的告警"))["青鸟"] == 1.5
    assert weights(ask("青鸟的告警"))["青鸟"] == 1.0
    assert ask('is "blue bird" up at https://a.example/x, @dana?').entities == (
        "blue bird",
        "https://a.example/x",
        "@dana",
    )
    assert ask("see src/billing/store.ts and nimbus-gateway").entities == (
        "src/billing/store.ts",
        "nimbus-gateway",
    )


def test_common_words_and_short_numbers_are_weak(ask) -> None:
    """They break ties and are no evidence."""
    weak = {
        term.word
        for term in ask("what time did 16 people start working on nimbus").terms
        if term.weak
    }
    assert weak == {"time", "16", "peopl", "start", "work"}


def test_a_question_that_is_nothing_but_an_intent_is_pure(ask) -> None:
    """Something named beside the cue makes it a question about that."""
    assert ask("下一步该做什么").pure
    assert ask("what did we decide?").pure
    assert not ask("what did we decide about the archive?").pure
    assert not ask("no problem").pure


@pytest.mark.parametrize(
    "text",
    ["接下来我该干嘛", "那我们该弄点啥", "我现在手头的情况怎么样", "手上还有什么没做"],
)
def test_what_is_next_may_be_asked_in_everyday_words(ask, text: str) -> None:
    """Not in those of a report alone."""
    assert ask(text).pure


@pytest.mark.parametrize(
    "text",
    table(__file__, "a_question_may_ask_for_nothing_but_a_day"),
)
def test_a_question_may_ask_for_nothing_but_a_day(ask, text: str) -> None:
    """One that has been; what else is named makes it a question about that."""
    assert ask(text).of_days


@pytest.mark.parametrize(
    "text",
    table(__file__, "a_day_to_come_or_a_thing_is_no_question_for_a_day"),
)
def test_a_day_to_come_or_a_thing_is_no_question_for_a_day(ask, text: str) -> None:
    """History has nothing of tomorrow."""
    assert not ask(text).of_days


@pytest.mark.parametrize(
    ("text", "reason"),
    table(__file__, "the_reason_to_stay_silent"),
)
def test_the_reason_to_stay_silent(ask, text: str, reason: str) -> None:
    """Chat, commands, orders and textbook questions have nothing to look for."""
    assert ask(text).silent == reason


@pytest.mark.parametrize(
    "text",
    table(__file__, "what_names_something_is_looked_for"),
)
def test_what_names_something_is_looked_for(ask, text: str) -> None:
    """The gates are narrow: a thing, a project of ours or a question opens them."""
    assert ask(text).silent == ""


def test_the_askers_name_is_looked_for_with_i_and_my(ask) -> None:
    """ "My" means the one who asks; "we" does not."""
    assert "dana" in weights(ask("what is my editor", speaker="Dana"))
    assert "林晓" in weights(ask("我的工单在哪", speaker="林晓"))
    assert "林晓" not in weights(ask("我们的工单在哪", speaker="林晓"))


def test_a_raw_search_keeps_every_word(words: Words) -> None:
    """Who searches on purpose means what they type."""
    query = refined("git status", words, now=NOW, raw=True)
    assert query.silent == ""
    assert set(weights(query)) == {"git", "status"}
