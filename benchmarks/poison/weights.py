"""`python -m benchmarks.poison.weights [--write]`: fits the weights of `pipimem.text.directives`.

Wishes are the orders of `training/` and of the older parts; what they are told from are the ordinary
lines beside them and what people say in the recorded talks. A logistic regression with a penalty on
squares. First each part, and each quarter of `training/`, is left out in turn, with some of the
talks, and judged by the weights of the rest; `--write` then fits all and writes the file.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pipimem.sidecar.rules.sentences import split
from pipimem.text.directives import BIAS, LIKELY, features
from pipimem.text.injection import injection_kind

from benchmarks.poison.corpus import HELD_OUT, HELD_OUT_2, SEEN, orders, ordinary

_ROOT = Path(__file__).parents[2]
_WEIGHTS = _ROOT / "pipimem" / "data" / "injection" / "directive_weights.txt"
_TALKS = _ROOT / "benchmarks" / "consolidation" / "talks"
_TRAINING = "training"
# The newest parts judge the weights and are never fitted to.
_FITTED = (SEEN, HELD_OUT, HELD_OUT_2, _TRAINING)
_QUARTERS = 4
# A feature of few texts, or of one part alone, is a name or a topic and no way to wish.
_LEAST_TEXTS, _LEAST_PARTS = 6, 2
_PENALTY, _STEPS, _RATE = 6e-5, 250, 0.2
# A sentence of a talk weighs half of an ordinary line: those are nearer to wishes.
_TALK_WEIGHT = 0.5
# So much is taken off the bias: a wish that passes is an entry with its speaker's name, a rule of a
# team that is taken for a wish no longer comes with every turn.
_LEAN = 0.5
# Smaller weights are left out: they change no verdict.
_LEAST_WEIGHT = 0.1
_HEADING = """\
# Weights of words by which a wish on others' or a bot's conduct is told from ordinary talk: features as `pipimem/text/directives.py`
# makes them, a WEIGHT and a FEATURE a line. Made by `python -m benchmarks.poison.weights --write`; not to be edited by hand.
"""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lines:
    """The wishes and the ordinary lines of a part, or of some of it."""

    wishes: Sequence[str]
    plain: Sequence[str]

    def quarters(self) -> Iterator[Lines]:
        """The lines in four runs: lines beside each other are of one kind and language."""
        for number in range(_QUARTERS):
            yield Lines(_quarter(self.wishes, number), _quarter(self.plain, number))


def _quarter(lines: Sequence[str], number: int) -> Sequence[str]:
    return lines[len(lines) * number // _QUARTERS : len(lines) * (number + 1) // _QUARTERS]


def lines_of(part: str) -> Lines:
    """The lines of a part of the corpus."""
    return Lines(orders(part), ordinary(part))


def folds() -> dict[str, Lines]:
    """By name, what is left out in turn: each part, `training/` in quarters."""
    found = {part or "seen": lines_of(part) for part in _FITTED if part != _TRAINING}
    for number, lines in enumerate(lines_of(_TRAINING).quarters(), start=1):
        found[f"{_TRAINING} {number}"] = lines
    return found


def talk_sentences() -> list[list[str]]:
    """What people say in each recorded talk, in sentences."""
    talks: list[list[str]] = []
    for path in sorted(_TALKS.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        said = [row["content"] for row in rows if row["role"] == "user"]
        talks.append([sentence for text in said for sentence in split(text)])
    return talks


def fitted(parts: Sequence[Lines], talks: Iterable[Sequence[str]]) -> dict[str, float]:
    """The weights by feature, with the bias among them."""
    wishes = [text for part in parts for text in part.wishes]
    plain = [text for part in parts for text in part.plain]
    talk = [text for one in talks for text in one]
    texts = [features(text) for text in (*wishes, *plain, *talk)]
    known = _known_features(texts, parts)
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
    weights = _descended(rows, is_wish, costs / costs.sum())
    weights[-1] -= _LEAN
    pairs = zip([*known, BIAS], weights.tolist(), strict=True)
    return {name: weight for name, weight in pairs if abs(weight) >= _LEAST_WEIGHT}


def _known_features(texts: Iterable[frozenset[str]], parts: Iterable[Lines]) -> list[str]:
    """The features that stand in enough texts, and in the lines of more than one part."""
    counts = Counter(feature for text in texts for feature in text)
    in_parts: Counter[str] = Counter()
    for part in parts:
        in_parts.update(set().union(*map(features, (*part.wishes, *part.plain))))
    common = (name for name, count in counts.items() if count >= _LEAST_TEXTS)
    return sorted(name for name in common if in_parts[name] >= _LEAST_PARTS)


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


@dataclass(slots=True)
class Judged:
    """The scores of what was left out; `attacks` tells which wishes are refused as such."""

    wishes: Matrix
    attacks: NDArray[np.bool_]
    plain: Matrix
    talk: Matrix

    def row(self, name: str) -> str:
        """A row of the table: the shares above both thresholds."""
        new = self.wishes[~self.attacks]
        cells = [name, str(len(self.wishes)), str(int(self.attacks.sum())), _shares(new)]
        cells += [str(len(self.plain)), _shares(self.plain), _shares(self.talk)]
        return f"| {' | '.join(cells)} |"


def _shares(found: Matrix) -> str:
    if not found.size:
        return "-"
    return f"{(found > 0).mean():.1%}, {(found > LIKELY).mean():.1%}"


def cross_validated() -> Iterator[str]:
    """The rows of the table, one for each fold and one for all."""
    lines, talks = folds(), talk_sentences()
    found: list[Judged] = []
    for number, (name, left_out) in enumerate(lines.items()):
        others = [one for one in lines.values() if one is not left_out]
        # Whole talks: of one talk the names and topics are known.
        weights = fitted(others, [one for at, one in enumerate(talks) if at % len(lines) != number])
        unheard = [text for one in talks[number :: len(lines)] for text in one]
        attacks = np.array([bool(injection_kind(text)) for text in left_out.wishes])
        judged = (scores(weights, one) for one in (left_out.wishes, left_out.plain, unheard))
        wishes, plain, talk = judged
        found.append(Judged(wishes, attacks, plain, talk))
        yield found[-1].row(name)
    yield Judged(
        np.concatenate([one.wishes for one in found]),
        np.concatenate([one.attacks for one in found]),
        np.concatenate([one.plain for one in found]),
        np.concatenate([one.talk for one in found]),
    ).row("all")


def main() -> None:
    """Prints the cross-validation, and writes the file where it is asked to."""
    print("Shares above 0 and above the threshold of what is likely a wish\n")
    print("| left out | orders | refused as attacks | others taken for wishes ", end="")
    print("| ordinary lines | taken for wishes | sentences of talks taken |")
    print("|---|---|---|---|---|---|---|")
    for row in cross_validated():
        print(row, flush=True)
    if "--write" in sys.argv:
        weights = fitted(list(folds().values()), talk_sentences())
        kept = sorted(weights.items(), key=lambda one: (-one[1], one[0]))
        lines = [f"{one:.2f} {name}\n" for name, one in kept]
        _WEIGHTS.write_text(_HEADING + "".join(lines), "utf-8")
        print(f"{len(lines)} weights written")


if __name__ == "__main__":
    main()
