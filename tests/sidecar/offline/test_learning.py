"""What the rules keep of a conversation, and what they let pass; the cases are in `cases/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.contracts import Learned
from pipimem.sidecar.offline.learning import candidates, chosen
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words
from tests.sidecar.conftest import answered, said

CASES = Path(__file__).parent.parent / "cases"
WORDS = Words(Segmenter())


def cases(name: str) -> list[Mapping[str, str]]:
    """The lines of a file of cases."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def learnt_from(*texts: str, speaker: str = "Dana", group: bool = True) -> list[Learned]:
    """What is kept of one person's messages."""
    window = [answered(99, "Hello.")] + [said(n, text, speaker) for n, text in enumerate(texts, 1)]
    return chosen(candidates(window, WORDS, group=group), window)


@pytest.mark.parametrize("case", cases("learned"), ids=lambda case: case["said"][:24])
def test_what_matters_is_kept_in_the_third_person(case: Mapping[str, str]) -> None:
    """The kind fits, the text stands alone with name and date, and what somebody asked for is marked."""
    (got,) = learnt_from(case["said"], speaker=case.get("speaker", "Dana"))
    assert (got.kind, got.text) == (Kind(case["kind"]), case["text"])
    assert got.explicit is bool(case.get("asked"))
    assert got.sources == ("m1",)


@pytest.mark.parametrize("case", cases("ignored"), ids=lambda case: case["said"][:24])
def test_talk_is_let_pass(case: Mapping[str, str]) -> None:
    """Greetings, questions, wishes, quotes of others, secrets and reactions leave nothing."""
    assert learnt_from(case["said"]) == []


def test_a_direct_message_needs_no_name_in_front() -> None:
    """Where only one person talks, only "I" becomes a name."""
    (got,) = learnt_from("Never call me before ten.", group=False)
    assert got.text == "Never call Dana before ten"
    (got,) = learnt_from("The release moves to Thursday 12 March.", group=False)
    assert got.text == "The release moves to Thursday 12 March"


def test_the_bots_own_words_are_learnt_only_when_confirmed() -> None:
    """A statement of the bot counts once a person says yes to it, as theirs."""
    told = answered(1, "Refunds must always be checked by hand.")
    assert candidates([told, said(2, "Nice weather.")], WORDS, group=True) == []
    (got,) = candidates([told, said(2, "Yes, exactly.")], WORDS, group=True)
    assert got.learned.text == "Dana: Refunds must always be checked by hand"
    assert got.learned.sources == ("m1", "m2")


def test_there_is_a_bound_on_noise() -> None:
    """At most one entry to two messages of people, but everything that was asked for."""
    likes = [f"I like {thing} a lot." for thing in ("jazz music", "green tea", "long walks", "old maps", "new trains")]
    assert len(learnt_from(*likes)) == 3
    asked = [
        f"Remember: rule {n} is about {word}." for n, word in enumerate(("tea", "music", "walks", "maps", "trains"))
    ]
    assert len(learnt_from(*likes, *asked)) == 5 + 5


def test_sure_things_are_durable_and_faint_ones_on_probation() -> None:
    """The bar reads necessity and confidence."""
    (decided,) = learnt_from("We decided to use Postgres for the archive.")
    (doing,) = learnt_from("I've been learning Portuguese.")
    assert (decided.necessity, decided.confidence >= 0.85) == ("high", True)
    assert (doing.necessity, doing.confidence) == ("medium", 0.9)


def test_the_same_window_is_learnt_the_same() -> None:
    """No chance and no clock are in it."""
    window = [said(1, "We decided to use Postgres."), said(2, "我喜欢爬山和摄影。", "林晓")]
    assert candidates(window, WORDS, group=True) == candidates([replace(m) for m in window], WORDS, group=True)
