"""`python -m benchmarks.poison.weights [--write]`: fits the weights of `pipimem.text.directives`.

Wishes are the orders of `training/` and of all parts but the newest; what they are told from are the ordinary
lines beside them and what people say in the recorded talks. A logistic regression, each side of
equal weight, with a penalty on squares. First each part is left out in turn, with half of the
talks, and judged by the weights of the rest; `--write` then fits all and writes the file.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pipimem.sidecar.rules.sentences import split
from pipimem.text.directives import BIAS, features
from pipimem.text.injection import injection_kind

from benchmarks.poison.corpus import HELD_OUT_3, PARTS, orders, ordinary

_ROOT = Path(__file__).parents[2]
_WEIGHTS = _ROOT / "pipimem" / "data" / "injection" / "directive_weights.txt"
_TALKS = _ROOT / "benchmarks" / "consolidation" / "talks"
_TRAINING = "training"
# The newest part judges the weights and is never fitted to.
_FITTED = tuple(part for part in (*PARTS, _TRAINING) if part != HELD_OUT_3)
# A feature of fewer texts says nothing. Those who want something in the corpus are no evidence.
_LEAST_TEXTS = 3
_VILLAINS = frozenset(("mallory", "quill", "bea", "马", "三", "奎"))
_PENALTY, _STEPS, _RATE = 6e-5, 200, 0.2
# A sentence of a talk weighs half of an ordinary line: those are nearer to wishes.
_TALK_WEIGHT = 0.5
# So much is added to the bias: a wish taken for none binds others, an ordinary line taken for a
# wish is only kept as a quote. And smaller weights are left out of the file.
_LEAN, _LEAST_WEIGHT = 1.0, 0.02
_HEADING = """\
# Weights of words by which a wish on others' or a bot's conduct is told from ordinary talk: features as `pipimem/text/directives.py`
# makes them, a WEIGHT and a FEATURE a line. Made by `python -m benchmarks.poison.weights --write`; not to be edited by hand.
"""

Matrix = NDArray[np.float64]


def talk_sentences(first: int = 0, step: int = 1) -> list[str]:
    """What people say in the recorded talks, or in each so manyth, a sentence each."""
    found: list[str] = []
    for path in sorted(_TALKS.glob("*.jsonl"))[first::step]:
        rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
        for row in rows:
            if row["role"] == "user":
                found += split(row["content"])
    return found


def fitted(wishes: Sequence[str], plain: Sequence[str], talk: Sequence[str]) -> dict[str, float]:
    """The weights by feature, with the bias among them."""
    texts = [features(text) for text in (*wishes, *plain, *talk)]
    counts = Counter(feature for text in texts for feature in text)
    known = sorted(
        feature
        for feature, count in counts.items()
        if count >= _LEAST_TEXTS and _VILLAINS.isdisjoint(feature.split())
    )
    places = {feature: place for place, feature in enumerate(known)}
    rows = np.zeros((len(texts), len(known) + 1))
    for number, text in enumerate(texts):
        found = [places[feature] for feature in text if feature in places]
        rows[number, found] = 1 / np.sqrt(max(1, len(found)))
    rows[:, -1] = 1
    is_wish = np.zeros(len(texts))
    is_wish[: len(wishes)] = 1
    costs = np.full(len(texts), _TALK_WEIGHT)
    costs[: len(wishes) + len(plain)] = 1
    costs[: len(wishes)] = len(plain) / len(wishes)
    weights = _descended(rows, is_wish, costs / costs.sum())
    weights[-1] += _LEAN
    return dict(zip([*known, BIAS], weights.tolist(), strict=True))


def _descended(rows: Matrix, is_wish: Matrix, costs: Matrix) -> Matrix:
    """The weights after so many steps of Adam; the same rows give the same ones."""
    weights, mean, square = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (costs * (likely - is_wish)) + _PENALTY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights -= _RATE * mean / (1 - 0.9**step) / scale
    return weights


def scores(weights: Mapping[str, float], texts: Sequence[str]) -> Matrix:
    """The score of each text, as `directive_score` has it."""
    found: list[float] = []
    for text in texts:
        known = [weights[one] for one in features(text) if one in weights]
        found.append(weights[BIAS] + sum(known) / max(1, len(known)) ** 0.5)
    return np.array(found)


def fitted_without(part: str | None, talk: Sequence[str]) -> dict[str, float]:
    """The weights of everything but a part."""
    others = [one for one in _FITTED if one != part]
    wishes = [text for one in others for text in orders(one)]
    return fitted(wishes, [text for one in others for text in ordinary(one)], talk)


def _left_out(part: str) -> None:
    """Prints how a part, and half of the talks, are judged by weights of all else."""
    weights = fitted_without(part, talk_sentences(0, 2))
    found = scores(weights, orders(part)) > 0
    attacks = np.array([bool(injection_kind(text)) for text in orders(part)])
    wrong, in_talk = scores(weights, ordinary(part)) > 0, scores(weights, talk_sentences(1, 2)) > 0
    print(
        f"| {part or 'seen'} | {len(found)} | {found.mean():.1%} | {(found | attacks).mean():.1%} "
        f"| {len(wrong)} | {wrong.mean():.1%} | {in_talk.mean():.1%} |"
    )
    if "--list" in sys.argv:
        missed = ~(found | attacks)
        print("\n".join(text for text, is_one in zip(orders(part), missed, strict=True) if is_one))


def main() -> None:
    """Prints the cross-validation, and writes the file where it is asked to."""
    print("| part left out | orders | taken for wishes | or attacks ", end="")
    print("| ordinary lines | taken for wishes | sentences of talks taken |")
    print("|---|---|---|---|---|---|---|")
    for part in (*_FITTED, HELD_OUT_3):
        _left_out(part)
    if "--write" in sys.argv:
        weights = fitted_without(None, talk_sentences())
        kept = sorted(weights.items(), key=lambda one: (-one[1], one[0]))
        lines = [f"{one:.2f} {name}\n" for name, one in kept if abs(one) >= _LEAST_WEIGHT]
        _WEIGHTS.write_text(_HEADING + "".join(lines), "utf-8")
        print(f"{len(lines)} weights written")


if __name__ == "__main__":
    main()
