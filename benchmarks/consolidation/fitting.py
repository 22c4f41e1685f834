"""Fit the weights of the offline rules to the labelled talks, and measure them on talks left out.

usage: python -m benchmarks.consolidation.fitting --evals DIR [--write] [--keep 0.79]

A logistic regression (ridge) over the features of each sentence that may be kept: what says a fact
of the labels is worth keeping, what says none, or what was overtaken or not meant, is not. The
examples and counter-examples of `worth.txt` and the cases of the tests are learnt from as well. The
curve, and the figures of whole talks, are those with weights that saw no talk of its kind (`club-en`
and `club-zh` are one); `--keep` says which share of the facts of the blind talks is to be kept there,
and so what a sentence must weigh. `--write` writes `pipimem/data/rules/weights.txt`. The third six
blind talks are never read here: they are what the weights are tried on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.runtime.replay import recorded
from pipimem.sidecar.rules import choosing
from pipimem.sidecar.rules.choosing import candidates
from pipimem.sidecar.rules.context import in_context
from pipimem.sidecar.rules.patterns import rules
from pipimem.sidecar.rules.sentences import Sentence, sentences
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from benchmarks.consolidation.labels import (
    BLIND,
    BLIND_SECOND,
    FOLDER,
    UNSEEN,
    Score,
    Stretch,
    scored,
    stretches,
)
from benchmarks.consolidation.running import run

WEIGHTS = Path(__file__).parents[2] / "pipimem" / "data" / "rules" / "weights.txt"
# How strongly weights are drawn towards nothing; and features of fewer sentences have none.
_RIDGE, _LEAST = 10.0, 4
# The examples are short: what only they have may differ more freely from the talks.
_FEW, _RIDGE_OF_FEW = "few", 4.0
# A sentence that is overtaken or not meant does more harm than an idle one.
_HARM = 2.0
# Examples are few, and each stands for many.
_EXAMPLE = 3.0
_ALWAYS = "always"
_CASES = Path(__file__).parents[2] / "tests" / "sidecar" / "cases"
_EMPTY = ("chatter", "assent", "weather", "joking", "hyperbole", "tentative")
NOW = datetime(2026, 11, 12, 10, tzinfo=UTC)
_HEAD = """\
# What each feature of a sentence (`sidecar/rules/features.py`) adds to its weight; above zero it is kept. "few, x" is
# added for x where a window has fewer than twelve sentences.
#
# Fitted, not written by hand: a logistic regression over 36 labelled talks and the examples of the patterns and tests.
# python -m benchmarks.consolidation.fitting --evals EVALS --write

"""
Matrix = NDArray[np.float64]
# Names of talks, and weights that were fitted without them.
Parts = Sequence[tuple[set[str], dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence that may be kept: its talk, its features, the facts it says, and its worth."""

    talk: str
    features: Mapping[str, float]
    facts: frozenset[str]
    is_junk: bool
    is_worth: bool
    weight: float = 1.0


def main() -> None:
    """Fit, print the curve, the weights, and what whole talks keep that were left out."""
    args = _arguments()
    words = Words(Segmenter())
    sets = {folder.name: stretches(folder) for folder in (UNSEEN, BLIND, BLIND_SECOND, FOLDER)}
    known = [one for some in sets.values() for one in some]
    rows = [row for one in known for row in _rows(one, args.evals, words)] + _examples(words)
    names = sorted({name for row in rows for name in row.features})
    names = [name for name in names if sum(bool(row.features.get(name)) for row in rows) >= _LEAST]
    parts = _parts(rows, names)
    scores = _left_out(rows, parts)
    blind = {one.name: len(one.facts) for one in (*sets["blind"], *sets["blind_second"])}
    every = blind | {one.name: len(one.facts) for one in sets["unseen"]}
    print("all talks", _curve(rows, scores, every))
    print("blind talks", _curve(rows, scores, blind))
    least = _least(rows, scores, blind, args.keep)
    fitted = _fitted(rows, names)
    fitted[_ALWAYS] -= least
    lines = [f"{name} {value:.3f}" for name, value in sorted(fitted.items())]
    if args.write:
        WEIGHTS.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    for title, some in sets.items():
        for language in ("en", "zh"):
            scored_ones = [
                _kept_by(parts, least, one, args.evals) for one in some if one.language == language
            ]
            print(title, language, _sums(scored_ones))


def _kept_by(parts: Parts, least: float, stretch: Stretch, evals: Path) -> Score:
    """What the runtime keeps of a talk with weights that were fitted without it."""
    fitted = next(values for held, values in parts if stretch.name in held)
    choosing.weights.cache_clear()
    kept, choosing.weights = choosing.weights, lambda: fitted | {_ALWAYS: fitted[_ALWAYS] - least}
    try:
        with tempfile.TemporaryDirectory() as folder:
            return scored(stretch, run(stretch, evals, Path(folder), "offline", 600, None).entries)
    finally:
        choosing.weights = kept


def _sums(scores: Sequence[Score]) -> str:
    kept, missed = sum(len(s.kept) for s in scores), sum(len(s.missed) for s in scores)
    junk, entries = sum(len(s.junk) for s in scores), sum(s.entries for s in scores)
    wrong, stale = sum(len(s.falsified) for s in scores), sum(len(s.stale) for s in scores)
    return (
        f"kept {kept} / {kept + missed} = {kept / (kept + missed):.2f}"
        f"  junk {junk} / {entries} = {junk / entries:.2f}  falsified {wrong}, overtaken {stale} of them"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.consolidation.fitting")
    parser.add_argument("--evals", type=Path, required=True, help="folder with transcripts/")
    parser.add_argument("--keep", type=float, default=0.79, help="share of facts to keep")
    parser.add_argument("--write", action="store_true", help="write the weights")
    return parser.parse_args()


def _rows(stretch: Stretch, evals: Path, words: Words) -> list[Row]:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("\n".join(stretch.lines(evals)))
        file.flush()
        messages = list(recorded(Path(file.name)))
    rows = []
    for one, _, features in _open_ones(messages, words):
        quote = one.quote()
        facts = frozenset(fact.says for fact in stretch.facts if fact.is_in(quote))
        is_fine = any(fact.is_in(quote) for fact in stretch.also_fine)
        wrong = [fact for fact in stretch.falsified if fact.is_in(quote)]
        is_meant = not any(not fact.stale for fact in wrong)
        is_worth = is_meant and bool(facts or (is_fine and not wrong))
        is_junk, harm = not facts and not is_fine, _HARM if wrong else 1.0
        rows.append(Row(stretch.name, features, facts, is_junk, is_worth, harm))
    return rows


def _examples(words: Words) -> list[Row]:
    """What the patterns' own examples teach, and the cases of the tests."""
    given = [
        ([text], is_worth)
        for some in rules("worth").values()
        for rule in some
        for text, is_worth in ((rule.example, True), (rule.counter_example, False))
    ]
    given += [([rule.example], False) for name in _EMPTY for rule in rules("left_out")[name]]
    rows = [row for texts, is_worth in given for row in _taught(texts, is_worth, words)]
    for name in ("quoted", "in_context", "ignored"):
        for line in (_CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            said, kept = case["said"], case.get("kept", [])
            rows += _taught([said] if isinstance(said, str) else said, kept, words)
    return rows


def _taught(texts: Sequence[str], worth: bool | Sequence[str], words: Words) -> list[Row]:
    window = []
    for number, text in enumerate(texts, 1):
        name, bar, content = text.rpartition("|")
        role = "assistant" if name == "bot" else "user"
        window.append(Message(role, content, f"m{number}", NOW, name if bar else "Tom"))
    rows = []
    for one, _, features in _open_ones(window, words):
        said = one.text.rstrip("。.;； ")
        is_worth = worth if isinstance(worth, bool) else any(said in text for text in worth)
        rows.append(Row("", features, frozenset(), not is_worth, is_worth, _EXAMPLE))
    return rows


def _open_ones(
    window: Sequence[Message], words: Words
) -> list[tuple[Sentence, Kind, Mapping[str, float]]]:
    """The candidates of a window without what it says to be done: that is history alone."""
    some = candidates(in_context(sentences(window)), words)
    return [found for found in some if not found[0].closed]


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> Matrix:
    return np.array([[row.features.get(name, 0.0) for name in names] for row in rows])


def _parts(rows: Sequence[Row], names: Sequence[str]) -> Parts:
    """Of each talk, and those of its kind (`club-en`, `club-zh`), what all others teach."""
    talks = {row.talk for row in rows if row.talk}
    kinds = sorted({_kind_of(talk) for talk in talks})
    held = [{talk for talk in talks if _kind_of(talk) == kind} for kind in kinds]
    return [(some, _fitted([row for row in rows if row.talk not in some], names)) for some in held]


def _kind_of(talk: str) -> str:
    return talk.partition("-")[0]


def _left_out(rows: Sequence[Row], parts: Parts) -> Matrix:
    """The weight of each sentence by what the talks without its own teach."""
    scores = np.zeros(len(rows))
    for place, row in enumerate(rows):
        for held, fitted in parts:
            if row.talk in held:
                known = (fitted.get(name, 0.0) * value for name, value in row.features.items())
                scores[place] = fitted[_ALWAYS] + sum(known)
    return scores


def _fitted(rows: Sequence[Row], names: Sequence[str]) -> dict[str, float]:
    """The weights that a logistic regression gives the features, by Newton's method."""
    plain = _matrix(rows, names)
    middle, spread = plain.mean(0), plain.std(0) + 1e-9
    given = np.hstack([(plain - middle) / spread, np.ones((len(rows), 1))])
    worth = np.array([row.is_worth for row in rows], dtype=float)
    share = np.array([row.weight for row in rows])
    ridges = [_RIDGE_OF_FEW if name.startswith(_FEW) else _RIDGE for name in names]
    ridge = np.diag([*ridges, 0.0])
    values = np.zeros(len(names) + 1)
    for _ in range(12):
        chance = 1 / (1 + np.exp(-given @ values))
        slope = given.T @ (share * (worth - chance)) - ridge @ values
        curve = (given * (share * chance * (1 - chance))[:, None]).T @ given + ridge
        values += np.linalg.solve(curve, slope)
    scaled = values[:-1] / spread
    fitted = {name: float(value) for name, value in zip(names, scaled, strict=True)}
    return fitted | {_ALWAYS: float(values[-1] - middle @ scaled)}


def _ranked(rows: Sequence[Row], scores: Matrix, facts: Mapping[str, int]) -> list[int]:
    places = [place for place, row in enumerate(rows) if row.talk in facts]
    return sorted(places, key=lambda place: -scores[place])


def _curve(rows: Sequence[Row], scores: Matrix, facts: Mapping[str, int]) -> str:
    """The share of junk where so many of the facts are kept."""
    kept, junk, told, points = set[tuple[str, str]](), 0, 0, [0.65, 0.7, 0.75, 0.8, 0.85]
    found = []
    for place in _ranked(rows, scores, facts):
        row = rows[place]
        kept |= {(row.talk, fact) for fact in row.facts}
        told, junk = told + 1, junk + row.is_junk
        while points and len(kept) >= points[0] * sum(facts.values()):
            found.append(f"{points.pop(0):.2f}: {junk / told:.3f}")
    return "junk at a share of facts kept  " + "  ".join(found)


def _least(rows: Sequence[Row], scores: Matrix, facts: Mapping[str, int], share: float) -> float:
    """What a sentence must weigh so that a share of the facts is kept."""
    kept = set[tuple[str, str]]()
    for place in _ranked(rows, scores, facts):
        kept |= {(rows[place].talk, fact) for fact in rows[place].facts}
        if len(kept) >= share * sum(facts.values()):
            return float(scores[place])
    return float(scores.min())


if __name__ == "__main__":
    main()
