"""What each part of search gives: the score with that part off.

usage: python -m benchmarks.recall.ablation EVALS_DIR
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.transcript.formula import FORMULA, Formula
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading
from benchmarks.recall.talks import Talk, pooled, talks
from benchmarks.segmenting import loaded_segmenter

_BARE = Formula(
    saturation=1.2,
    length=0.75,
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

ROWS: tuple[tuple[str, Formula, Synonyms | None], ...] = (
    ("everything", FORMULA, None),
    ("no neighbours", replace(FORMULA, before=(), after=()), None),
    ("… no earlier ones", replace(FORMULA, before=()), None),
    ("… no later ones", replace(FORMULA, after=()), None),
    (
        "… the nearest only",
        replace(FORMULA, before=FORMULA.before[:1], after=FORMULA.after[:1]),
        None,
    ),
    ("no speakers", replace(FORMULA, person=0, spoken=0), None),
    ("no dates", replace(FORMULA, date=0, dated=0), None),
    ("no words of one meaning", FORMULA, NO_SYNONYMS),
    ("no pairs of characters", replace(FORMULA, pairs=0), None),
    ("questions count as statements", replace(FORMULA, question=0), None),
    ("no shape of the answer", replace(FORMULA, time=0, number=0, name=0), None),
    ("usual k1 1.2 and b 0.75", replace(FORMULA, saturation=1.2, length=0.75), None),
    ("b 0.75 alone", replace(FORMULA, length=0.75), None),
    ("none of all this: plain BM25", _BARE, NO_SYNONYMS),
)


def main(evals: Path) -> None:
    """Print the table."""
    loaded = talks(evals, Words(loaded_segmenter()))
    print(heading("What each part of search gives: R@5 / R@10, and what is lost without it"))
    print("| | English | | Chinese | |\n|---|---|---|---|---|")
    whole = _both(loaded, FORMULA, None)
    for name, formula, synonyms in ROWS:
        cells = []
        for now, all_of_it in zip(_both(loaded, formula, synonyms), whole, strict=True):
            lost = (
                ""
                if name == ROWS[0][0]
                else " / ".join(f"{a - b:+.3f}" for a, b in zip(now, all_of_it, strict=True))
            )
            cells += [f"{now[0]:.3f} / {now[1]:.3f}", lost]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _both(
    loaded: list[Talk], formula: Formula, synonyms: Synonyms | None
) -> list[tuple[float, float]]:
    return [
        pooled(
            [(talk, talk.score(formula, synonyms)) for talk in loaded if talk.chinese is chinese]
        )
        for chinese in (False, True)
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
