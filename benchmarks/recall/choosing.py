"""The constants of search chosen anew: the best on all conversations but one, scored on that one.

usage: python -m benchmarks.recall.choosing EVALS_DIR

From plain BM25 values one constant at a time moves to its best value on the conversations at hand,
twice round; a value must be better by more than `_WORTH` to be taken. Takes about a quarter of an
hour.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pipimem.recall.transcript.formula import Formula
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading
from benchmarks.recall.talks import Talk, pooled, talks
from benchmarks.segmenting import loaded_segmenter

_GRID: dict[str, tuple[object, ...]] = {
    "before": (
        (),
        (0.3,),
        (0.5,),
        (0.4, 0.2),
        (0.5, 0.25),
        (0.4, 0.2, 0.1),
        (0.5, 0.25, 0.12),
        (0.6, 0.36, 0.22),
    ),
    "after": (
        (),
        (0.3,),
        (0.5,),
        (0.4, 0.2),
        (0.5, 0.25),
        (0.4, 0.2, 0.1),
        (0.5, 0.25, 0.12),
        (0.3, 0.15, 0.08),
    ),
    "saturation": (0.5, 0.8, 1.2, 2.0),
    "length": (0.0, 0.1, 0.2, 0.4, 0.75),
    "spoken": (0.0, 0.3, 0.5, 0.8, 1.2),
    "person": (0.0, 0.15, 0.33, 0.5),
    "dated": (0.0, 0.5, 1.0, 2.0),
    "date": (0.0, 0.25, 0.5, 0.8),
    "pairs": (0.0, 0.15, 0.25, 0.4),
    "question": (0.0, 0.2, 0.3, 0.5),
    "time": (0.0, 0.2, 0.4),
    "number": (0.0, 0.2, 0.3, 0.5),
    "name": (0.0, 0.2, 0.4),
}
_START = Formula(
    saturation=1.2,
    length=0.2,
    before=(),
    after=(),
    pairs=0,
    date=0,
    dated=0,
    person=0,
    spoken=0,
    question=0,
    time=0,
    number=0,
    name=0,
)
_ROUNDS = 2
# A tenth of a point of R@5 + R@10 is one question in a thousand: less is chance.
_WORTH = 0.0015

_Scores = dict[tuple[str, Formula], tuple[float, float]]


def score(talk: Talk, formula: Formula, known: _Scores) -> tuple[float, float]:
    """The score of a formula on a conversation, remembered."""
    if (talk.name, formula) not in known:
        known[talk.name, formula] = talk.score(formula)
    return known[talk.name, formula]


def fitted(at_hand: Sequence[Talk], known: _Scores) -> Formula:
    """The best formula found for these conversations, each as important as the others."""

    def worth(formula: Formula) -> float:
        return sum(sum(score(talk, formula, known)) for talk in at_hand) / len(at_hand)

    formula, best = _START, worth(_START)
    for _ in range(_ROUNDS):
        for name, values in _GRID.items():
            for value in values:
                tried = replace(formula, **{name: value})
                if (found := worth(tried)) > best + _WORTH:
                    formula, best = tried, found
    return formula


def main(evals: Path) -> None:
    """Print the choice of each fold, its score on what it has not seen, and the choice on all."""
    loaded = talks(evals, Words(loaded_segmenter()))
    print(heading("Constants of search, each conversation left out once"))
    known: _Scores = {}
    unseen = []
    for left_out in loaded:
        formula = fitted([talk for talk in loaded if talk is not left_out], known)
        unseen.append((left_out, score(left_out, formula, known)))
        print(
            f"without {left_out.name}: R@5 / R@10 there "
            f"{unseen[-1][1][0]:.3f} / {unseen[-1][1][1]:.3f}"
        )
        print(f"    {_told(formula)}", flush=True)
    for chinese in (False, True):
        five, ten = pooled([pair for pair in unseen if pair[0].chinese is chinese])
        print(f"unseen, {'Chinese' if chinese else 'English'}: R@5 {five:.3f}, R@10 {ten:.3f}")
    print(f"on all: {_told(fitted(loaded, known))}")


def _told(formula: Formula) -> str:
    return ", ".join(f"{name} {value}" for name, value in asdict(formula).items())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
