"""The labels of the unseen and the blind talks agree with the talks: true quotes pass, wrong
sentences do not.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from benchmarks.consolidation.labels import (
    BLIND,
    BLIND_FOURTH,
    BLIND_SECOND,
    BLIND_THIRD,
    UNSEEN,
    Fact,
    Stretch,
    scored,
    stretches,
)

from tests.cases import each

UNSEEN_TALKS = stretches(UNSEEN)
BLIND_TALKS = stretches(BLIND)
BLIND_SECOND_TALKS = stretches(BLIND_SECOND)
BLIND_THIRD_TALKS = stretches(BLIND_THIRD)
BLIND_FOURTH_TALKS = stretches(BLIND_FOURTH)
ALL_BLIND = [*BLIND_TALKS, *BLIND_SECOND_TALKS, *BLIND_THIRD_TALKS, *BLIND_FOURTH_TALKS]
each_talk = pytest.mark.parametrize("talk", [*UNSEEN_TALKS, *ALL_BLIND], ids=lambda talk: talk.name)


def _texts(talk: Stretch) -> dict[str, str]:
    """Each message as "name: content", by its id."""
    texts = {}
    for line in talk.lines(Path("not used by an unseen talk")):
        message = json.loads(line)
        texts[message["id"]] = f"{message['name']}: {message['content']}"
    return texts


def _quote(fact: Fact, texts: dict[str, str]) -> str:
    return "\n".join(texts[name] for name in fact.rests_on)


def _language_counts(talks: list[Stretch]) -> dict[str, int]:
    languages = [talk.language for talk in talks]
    return {language: languages.count(language) for language in set(languages)}


def test_there_are_six_unseen_and_blind_talks_of_each_language() -> None:
    assert _language_counts(UNSEEN_TALKS) == {"en": 6, "zh": 6}
    assert _language_counts(BLIND_TALKS) == {"en": 3, "zh": 3}
    assert _language_counts(BLIND_SECOND_TALKS) == {"en": 3, "zh": 3}
    assert _language_counts(BLIND_THIRD_TALKS) == {"en": 3, "zh": 3}
    assert _language_counts(BLIND_FOURTH_TALKS) == {"en": 2, "zh": 2}
    assert all(talk.unseen for talk in (*UNSEEN_TALKS, *ALL_BLIND))


@each_talk
def test_the_messages_of_a_talk_have_ids_and_moments_in_order(talk: Stretch) -> None:
    lines = talk.lines(Path("not used by an unseen talk"))
    moments = [datetime.fromisoformat(json.loads(line)["ts"]) for line in lines]
    assert len(_texts(talk)) == len(lines)
    assert moments == sorted(moments)


@each("talk", UNSEEN_TALKS)
def test_an_unseen_talk_has_as_many_messages_and_labels_as_it_should(talk: Stretch) -> None:
    assert 50 <= len(_texts(talk)) <= 70
    assert 12 <= len(talk.facts) <= 22
    assert 6 <= len(talk.falsified) <= 10


@each("talk", BLIND_TALKS)
def test_a_blind_talk_has_as_many_messages_and_labels_as_it_should(talk: Stretch) -> None:
    assert 70 <= len(_texts(talk)) <= 110
    assert 20 <= len(talk.facts) <= 25
    assert 12 <= len(talk.falsified) <= 16
    assert sum(wrong.stale for wrong in talk.falsified) >= 6
    assert sum(wrong.hidden for wrong in talk.falsified) >= 1


@each("talk", BLIND_SECOND_TALKS)
def test_a_talk_of_the_second_blind_set_has_as_many_messages_and_labels_as_it_should(
    talk: Stretch,
) -> None:
    assert 85 <= len(_texts(talk)) <= 110
    assert 35 <= len(talk.facts) <= 42
    assert 10 <= len(talk.falsified) <= 16
    assert sum(wrong.stale for wrong in talk.falsified) >= 9
    assert sum(wrong.hidden for wrong in talk.falsified) >= 1


@each("talk", BLIND_THIRD_TALKS)
def test_a_talk_of_the_third_blind_set_has_as_many_messages_and_labels_as_it_should(
    talk: Stretch,
) -> None:
    assert 85 <= len(_texts(talk)) <= 90
    assert 30 <= len(talk.facts) <= 40
    assert 14 <= len(talk.falsified) <= 18
    assert sum(wrong.stale for wrong in talk.falsified) >= 7
    assert sum(wrong.hidden for wrong in talk.falsified) >= 6


@each("talk", BLIND_FOURTH_TALKS)
def test_a_talk_of_the_fourth_blind_set_has_as_many_messages_and_labels_as_it_should(
    talk: Stretch,
) -> None:
    assert 75 <= len(_texts(talk)) <= 95
    assert 25 <= len(talk.facts) <= 35
    assert 14 <= len(talk.falsified) <= 20
    assert sum(wrong.stale for wrong in talk.falsified) >= 10
    assert sum(wrong.hidden for wrong in talk.falsified) >= 2


@each_talk
def test_every_fact_rests_on_messages_of_the_talk(talk: Stretch) -> None:
    texts = _texts(talk)
    for fact in talk.facts:
        assert fact.rests_on, fact.says
        assert set(fact.rests_on) <= set(texts), fact.says


@each_talk
def test_the_words_of_every_fact_stand_in_the_messages_it_rests_on(talk: Stretch) -> None:
    texts = _texts(talk)
    for fact in talk.facts:
        assert fact.is_in(_quote(fact, texts)), fact.says


@each_talk
def test_every_label_says_itself(talk: Stretch) -> None:
    for fact in (*talk.facts, *talk.also_fine, *talk.falsified):
        assert fact.is_in(fact.says), fact.says


@each_talk
def test_no_true_quote_says_a_falsified_sentence(talk: Stretch) -> None:
    texts = _texts(talk)
    quotes = [*texts.values(), *(_quote(fact, texts) for fact in talk.facts)]
    quotes += [fact.says for fact in (*talk.facts, *talk.also_fine)]
    for wrong in talk.falsified:
        if not (wrong.hidden or wrong.stale):
            assert [quote for quote in quotes if wrong.is_in(quote)] == [], wrong.says


@each("talk", ALL_BLIND)
def test_the_own_words_of_what_is_stale_or_hidden_say_it(talk: Stretch) -> None:
    """What a message said before it was overtaken, and a secret, count as falsified verbatim."""
    texts = _texts(talk)
    for wrong in talk.falsified:
        if wrong.hidden or wrong.stale:
            assert wrong.rests_on, wrong.says
            assert wrong.is_in(_quote(wrong, texts)), wrong.says


@each_talk
def test_no_label_of_what_is_true_says_something_stale_or_hidden(talk: Stretch) -> None:
    true = [fact.says for fact in (*talk.facts, *talk.also_fine)]
    for wrong in talk.falsified:
        assert [says for says in true if wrong.is_in(says)] == [], wrong.says


@each_talk
def test_no_falsified_sentence_says_a_fact(talk: Stretch) -> None:
    for wrong in talk.falsified:
        assert [fact.says for fact in talk.facts if fact.is_in(wrong.says)] == [], wrong.says


@each_talk
def test_a_score_counts_the_entries_that_say_a_falsified_sentence(talk: Stretch) -> None:
    truth, wrong = talk.facts[0].says, talk.falsified[0].says
    score = scored(talk, [truth, wrong])
    assert score.kept[0] == talk.facts[0]
    assert score.falsified == (wrong,)
