"""The labels of the unseen talks agree with the talks: true quotes pass, wrong sentences do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.consolidation.labels import UNSEEN, Fact, Stretch, scored, stretches

TALKS = stretches(UNSEEN)
each_talk = pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.name)


def _texts(talk: Stretch) -> dict[str, str]:
    """Each message as "name: content", by its id."""
    texts = {}
    for line in talk.lines(Path("not used by an unseen talk")):
        message = json.loads(line)
        texts[message["id"]] = f"{message['name']}: {message['content']}"
    return texts


def _quote(fact: Fact, texts: dict[str, str]) -> str:
    return "\n".join(texts[name] for name in fact.rests_on)


def test_there_are_six_talks_of_each_language() -> None:
    assert sorted(talk.language for talk in TALKS) == ["en"] * 6 + ["zh"] * 6


@each_talk
def test_a_talk_has_as_many_messages_and_labels_as_it_should(talk: Stretch) -> None:
    lines = talk.lines(Path("not used by an unseen talk"))
    moments = [json.loads(line)["ts"] for line in lines]
    assert 50 <= len(lines) <= 70
    assert len(_texts(talk)) == len(lines)
    assert moments == sorted(moments)
    assert 12 <= len(talk.facts) <= 22
    assert 6 <= len(talk.falsified) <= 10


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
        if not wrong.hidden:
            assert [quote for quote in quotes if wrong.is_in(quote)] == [], wrong.says


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
