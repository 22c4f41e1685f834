"""What is general about a sentence in its talk, and that the fitted weights know it."""

from __future__ import annotations

from pipimem.sidecar.rules.choosing import candidates, weights
from pipimem.sidecar.rules.context import in_context
from pipimem.sidecar.rules.features import LATER
from pipimem.sidecar.rules.patterns import rules
from pipimem.sidecar.rules.sentences import sentences

from tests.sidecar.rules.test_choosing import WORDS, talk

FILLING = [
    f"Bo|The {thing} was nice" for thing in ["soup", "bread", "cake", "pie", "rice", "fish", "tart"]
]


def features(*texts: str) -> list[dict[str, float]]:
    """The features of each sentence that may be kept."""
    found = candidates(in_context(sentences(talk(*texts))), WORDS)
    return [dict(shown) for _, _, shown in found]


def test_a_later_value_of_its_speaker_is_seen() -> None:
    """Of one type and about the same words, in a window of some length."""
    texts = [
        "Ann|The hall costs 40 euros",
        *FILLING,
        *FILLING,
        "Ann|The hall costs 55 euros a night",
    ]
    first, *_, last = features(*texts)
    assert 0.5 < first["another value later"] < 1.0
    assert last["another value later"] == 0.0
    other = features(
        "Ann|The hall costs 40 euros", *FILLING, *FILLING, "Bo|The hall costs 55 euros"
    )
    assert other[0]["another value later"] == 0.0


def test_a_few_sentences_are_weighed_otherwise() -> None:
    """What is said later counts for nothing there; each feature counts once more by its own weight."""
    first, _ = features("Ann|The hall costs 40 euros", "Ann|The hall costs 55 euros")
    assert [first[name] for name in LATER] == [0.0, 0.0, 0.0]
    assert first["few"] == first["few, number"] == 1.0


def test_weights_are_of_features_that_there_are() -> None:
    """Or a feature that was renamed would weigh nothing, unseen."""
    texts = ["Ann|The hall costs 40 euros. It moved", *FILLING, "Ann|We never close on Friday"]
    shown = {
        name for some in (features(*texts), features(texts[0])) for one in some for name in one
    }
    kinds = {*rules("worth"), "no kind", "always", "few"}
    plain = {name.removeprefix("few, ") for name in weights()}
    assert plain - kinds <= shown
