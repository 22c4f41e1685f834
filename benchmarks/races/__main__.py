"""Runs storms over all ways of saving and prints what was lost.

Run: `python -m benchmarks.races [--saves N] [--kills] [--seed S] [FOLDER]`; N raced saves for each
way of saving, kind of buffer, and with or without deletions. `--long` is 5,000 for each, with
kills, in rounds, for as long as `--minutes` says. Name a folder on the disk you care about.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import heading
from benchmarks.races.hands import WAYS
from benchmarks.races.storm import Count, storm

_ROW = "{:<20}{:<8}{:<9}{:>7}{:>9}{:>7}{:>12}{:>11}{:>11}{:>11}{:>9}{:>8}"
_LONG = 5_000
# A file grows by half a line a save: a round is so short that it stays one a person would have.
_ROUND = 250


@dataclass(frozen=True, slots=True)
class Kind:
    """A way of saving, a buffer loaded each time or now and then, and whether lines are deleted."""

    way: str
    is_stale: bool
    deletes: bool


KINDS = tuple(
    Kind(way, is_stale, deletes)
    for way in WAYS
    for is_stale in (False, True)
    for deletes in (False, True)
    if way != "append" or not (is_stale or deletes)  # who appends reads nothing and deletes nothing
)


def main() -> int:
    """Prints the table; the exit code is 1 where anything was lost."""
    asked = _asked()
    print(heading("Raced saves"))
    print(_ROW.format("way", "buffer", "deletes", "saves", "commits", "kills", "human lost",
    "acks lost", "dels back",
                      "ambiguous", "doubled", "p99 ms"))  # fmt: skip
    start = time.perf_counter()
    counts: dict[Kind, Count] = defaultdict(Count)
    left, seed = asked.saves, asked.seed
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        while left > 0 and (
            asked.minutes is None or time.perf_counter() - start < asked.minutes * 60
        ):
            for number, kind in enumerate(KINDS):
                root = Path(name) / f"{seed} {number}"
                counts[kind] += storm(
                    root,
                    kind.way,
                    min(left, _ROUND),
                    seed,
                    is_stale=kind.is_stale,
                    deletes=kind.deletes,
                    kills=asked.kills,
                    trace=asked.trace,
                )
            left, seed = left - _ROUND, seed + 1
    for kind, count in counts.items():
        _print(
            kind.way, "stale" if kind.is_stale else "fresh", "yes" if kind.deletes else "no", count
        )
    total = sum(counts.values(), Count())
    _print("all", "", "", total)
    print(
        f"\n{time.perf_counter() - start:.0f} s, losses: {total.losses}; "
        f"ambiguous, so the line was kept: {total.ambiguous}"
    )
    return 1 if total.losses else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Raced saves: people and bots at one file, and what is lost."
    )
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--saves", type=int, default=300, help="raced saves for each kind (300)")
    parser.add_argument("--kills", action="store_true", help="kill a bot every 0.15 to 0.5 s")
    parser.add_argument(
        "--long", action="store_true", help=f"{_LONG} saves for each kind, with kills"
    )
    parser.add_argument("--minutes", type=float, help="begin no new round after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--trace", type=Path, help="a folder for the story of each deletion that came back"
    )
    asked = parser.parse_args()
    if asked.long:
        asked.saves, asked.kills = _LONG, True
    return asked


def _print(way: str, buffer: str, deletes: str, part: Count) -> None:
    print(
        _ROW.format(
            way,
            buffer,
            deletes,
            part.saves,
            part.commits,
            part.kills,
            part.human_lost,
            part.acknowledged_lost,
            part.deletions_back,
            part.ambiguous,
            part.doubled,
            f"{part.slow_ms:.0f}",
        ),
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
