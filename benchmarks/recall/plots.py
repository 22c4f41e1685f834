"""How cost grows with the number of messages or entries: docs/plots/NAME.jsonl drawn as docs/plots/NAME.svg.

usage: python -m benchmarks.recall.plots [FOLDER]

The lines are what `benchmarks.recall.scale --json docs/plots/search.jsonl` and `benchmarks.recall.turns --json
docs/plots/turns.jsonl` write: {"series", "n", "p50_ms", "p95_ms", …}; those without the two times are passed over.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chart import Series, drawn
from benchmarks.recall.talks import lines

_FOLDER = Path(__file__).parents[2] / "docs" / "plots"
_HEADS = {
    "search": ("A search in a transcript: p50 (lines) and p95 (dashes)", "messages"),
    "turns": ("What memory adds to a turn: p50 (lines) and p95 (dashes)", "entries"),
}


def series_of(rows: Sequence[dict]) -> dict[str, Series]:
    """The lines of a plot by their names, in the order of the rows."""
    timed = sorted((row for row in rows if {"p50_ms", "p95_ms"} <= row.keys()), key=lambda row: row["n"])
    names = dict.fromkeys(row["series"] for row in rows if row in timed)
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
