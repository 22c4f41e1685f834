"""`python -m benchmarks.conflicts [--list]`: which labelled pairs of entries are found.

`pairs.jsonl` was written before the code. Each pair is compared alone, and all entries of a
language once more as one memory, where a pair that nobody labelled is a false one. `--list` prints
the pairs that are missed or false.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from pipimem.text.talk.contradictions import contradictions

from benchmarks.machine import heading

_PAIRS = Path(__file__).with_name("pairs.jsonl")
_WANTED = "contradiction"


def main() -> None:
    """Print the figures, by language."""
    print(heading("Contradicting entries"))
    labelled = [json.loads(line) for line in _PAIRS.read_text("utf-8").splitlines()]
    for language in ("en", "zh"):
        rows = [row for row in labelled if row["lang"] == language]
        wrong = [row for row in rows if _is_found(_texts(row)) != (row["label"] == _WANTED)]
        missed = sum(row["label"] == _WANTED for row in wrong)
        wanted = sum(row["label"] == _WANTED for row in rows)
        others = len(rows) - wanted
        print(
            f"{language}: found {wanted - missed} of {wanted}, false {len(wrong) - missed} of "
            f"{others}; false in one memory of all: {len(_false_in_one(rows))}"
        )
        if "--list" in sys.argv:
            for row in wrong:
                print(f"  {row['label']}: {' | '.join(_texts(row))}")
            for one, other in _false_in_one(rows):
                print(f"  together: {one} | {other}")


def _texts(row: dict[str, Sequence[tuple[str, str]]]) -> list[str]:
    return [text for _, text in row["entries"]]


def _is_found(texts: Sequence[str]) -> bool:
    return bool(list(contradictions(texts)))


def _false_in_one(rows: Sequence[dict[str, Sequence[tuple[str, str]]]]) -> list[tuple[str, str]]:
    texts = list(dict.fromkeys(chain.from_iterable(map(_texts, rows))))
    known = {frozenset(_texts(row)) for row in rows}
    pairs = [(texts[one], texts[other]) for one, other in contradictions(texts)]
    return [pair for pair in pairs if frozenset(pair) not in known]


if __name__ == "__main__":
    main()
