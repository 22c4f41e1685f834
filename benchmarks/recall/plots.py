"""How cost grows with the number of messages or entries: docs/lab/plots/NAME.jsonl drawn as
docs/lab/plots/NAME.svg.

usage: python -m benchmarks.recall.plots [FOLDER]

The lines are what `benchmarks.recall.scale --json docs/lab/plots/search.jsonl` and
`benchmarks.recall.turns --json docs/lab/plots/turns.jsonl` write: {"series", "n", "p50_ms",
"p95_ms", …}; what has not both times, or was measured at fewer than three lengths, is no line and
passed over.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chart import Series, drawn
from benchmarks.recall.talks import lines

_FOLDER = Path(__file__).parents[2] / "docs" / "plots"
_LEAST = 3
_HEADS = {
    "search": ("A search in a transcript: p50 (lines) and p95 (dashes)", "messages"),
    "turns": ("A whole before_turn, and only looking up: p50 (lines) and p95 (dashes)", "entries"),
}


def series_of(rows: Sequence[dict]) -> dict[str, Series]:
    """The lines of a plot by their names, in the order of the rows."""
    timed = sorted(
        (row for row in rows if {"p50_ms", "p95_ms"} <= row.keys()), key=lambda row: row["n"]
    )
    lengths = Counter(row["series"] for row in timed)
    names = [
        name for name in dict.fromkeys(row["series"] for row in rows) if lengths[name] >= _LEAST
    ]
    return {
        name: Series(
            tuple((row["n"], row["p50_ms"]) for row in timed if row["series"] == name),
            tuple((row["n"], row["p95_ms"]) for row in timed if row["series"] == name),
        )
        for name in names
    }


def main(folder: Path) -> None:
    """Draw every file of the folder."""
    for path in sorted(folder.glob("*.jsonl")):
        title, what = _HEADS.get(path.stem, (path.stem, "n"))
        picture = path.with_suffix(".svg")
        picture.write_text(drawn(title, what, "ms", series_of(lines(path))), encoding="utf-8")
        print(f"{picture}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _FOLDER)
