"""The labels of the unseen and the blind talks agree with the talks: true quotes pass, wrong
sentences do not.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

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

TALKS = [
    talk
    for file in (UNSEEN, BLIND, BLIND_SECOND, BLIND_THIRD, BLIND_FOURTH)
    for talk in stretches(file)
]


def _texts(talk: Stretch) -> dict[str, str]:
    """Each message as "name: content", by its id."""
    texts = {}
    for line in talk.lines(Path("not used by an unseen talk")):
        message = json.loads(line)
        texts[message["id"]] = f"{message['name']}: {message['content']}"
    return texts


def _quote(fact: Fact, texts: dict[str, str]) -> str:
    return "\n".join(texts[name] for name in fact.rests_on)


def test_there_are_as_many_talks_of_each_language() -> None:
    """17 of each, with messages in their order, and labels enough to count."""
    assert [talk.language for talk in TALKS].count("en") == len(TALKS) / 2 == 17
    for talk in TALKS:
        lines = talk.lines(Path("not used by an unseen talk"))
        moments = [datetime.fromisoformat(json.loads(line)["ts"]) for line in lines]
        assert len(_texts(talk)) == len(lines) >= 50
        assert moments == sorted(moments)
        assert talk.unseen
        assert len(talk.facts) >= 12
        assert len(talk.falsified) >= 6


@each("talk", TALKS)
def test_every_fact_rests_on_messages_of_the_talk(talk: Stretch) -> None:
    texts = _texts(talk)
    for fact in talk.facts:
        assert fact.rests_on, fact.says
        assert set(fact.rests_on) <= set(texts), fact.says


@each("talk", TALKS)
def test_the_words_of_every_fact_stand_in_the_messages_it_rests_on(talk: Stretch) -> None:
    texts = _texts(talk)
    for fact in talk.facts:
        assert fact.is_in(_quote(fact, texts)), fact.says


@each("talk", TALKS)
def test_every_label_says_itself(talk: Stretch) -> None:
    for fact in (*talk.facts, *talk.also_fine, *talk.falsified):
        assert fact.is_in(fact.says), fact.says


@each("talk", TALKS)
def test_no_true_quote_says_a_falsified_sentence(talk: Stretch) -> None:
    texts = _texts(talk)
    quotes = [*texts.values(), *(_quote(fact, texts) for fact in talk.facts)]
    quotes += [fact.says for fact in (*talk.facts, *talk.also_fine)]
    for wrong in talk.falsified:
        if not (wrong.hidden or wrong.stale):
            assert [quote for quote in quotes if wrong.is_in(quote)] == [], wrong.says


@each("talk", [talk for talk in TALKS if talk not in stretches(UNSEEN)])
def test_the_own_words_of_what_is_stale_or_hidden_say_it(talk: Stretch) -> None:
    """What a message said before it was overtaken, and a secret, count as falsified verbatim."""
    texts = _texts(talk)
    for wrong in talk.falsified:
        if wrong.hidden or wrong.stale:
            assert wrong.rests_on, wrong.says
            assert wrong.is_in(_quote(wrong, texts)), wrong.says


@each("talk", TALKS)
def test_no_label_of_what_is_true_says_something_stale_or_hidden(talk: Stretch) -> None:
    true = [fact.says for fact in (*talk.facts, *talk.also_fine)]
    for wrong in talk.falsified:
        assert [says for says in true if wrong.is_in(says)] == [], wrong.says


@each("talk", TALKS)
def test_no_falsified_sentence_says_a_fact(talk: Stretch) -> None:
    for wrong in talk.falsified:
        assert [fact.says for fact in talk.facts if fact.is_in(wrong.says)] == [], wrong.says


@each("talk", TALKS)
def test_a_score_counts_the_entries_that_say_a_falsified_sentence(talk: Stretch) -> None:
    truth, wrong = talk.facts[0].says, talk.falsified[0].says
    score = scored(talk, [truth, wrong])
    assert score.kept[0] == talk.facts[0]
    assert score.falsified == (wrong,)
