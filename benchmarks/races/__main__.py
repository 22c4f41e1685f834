"""Runs storms over all ways of saving and prints what was lost.

Run: `python -m benchmarks.races [--saves N] [--kills] [--seed S] [FOLDER]`; N raced saves for each way (300 if not
said, 5000 in the long mode); name a folder on the disk you care about.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.machine import heading
from benchmarks.races.hands import WAYS
from benchmarks.races.storm import Count, storm

_ROW = "{:<22}{:<8}{:<10}{:>7}{:>9}{:>7}{:>12}{:>11}{:>11}{:>9}{:>10}"


def main() -> int:
    """Prints the table; the exit code is 1 where anything was lost."""
    parser = argparse.ArgumentParser(description="Raced saves: people and bots at one file, and what is lost.")
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--saves", type=int, default=300, help="raced saves for each way of saving")
    parser.add_argument("--kills", action="store_true", help="kill a bot every 0.15 to 0.5 s")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(heading("Raced saves"))
    print(_ROW.format("way", "buffer", "deletes", "saves", "commits", "kills", "human lost", "acks lost", "dels back",
                      "doubled", "p99 ms"))  # fmt: skip
    start, total = time.perf_counter(), Count()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        for way in WAYS:
            kinds = [(stale, deletes) for stale in (False, True) for deletes in (False, True)]
            kinds = kinds[:1] if way == "append" else kinds
            for number, (is_stale, deletes) in enumerate(kinds):
                root = Path(name) / f"{way} {number}"
                part = storm(root, way, asked.saves // len(kinds), asked.seed, is_stale=is_stale, deletes=deletes,
                             kills=asked.kills)  # fmt: skip
                _print(way, "stale" if is_stale else "fresh", "yes" if deletes else "no", part)
                total += part
    _print("all", "", "", total)
    print(f"\n{time.perf_counter() - start:.0f} s, losses: {total.losses}")
    return 1 if total.losses else 0


def _print(way: str, buffer: str, deletes: str, part: Count) -> None:
    print(_ROW.format(way, buffer, deletes, part.saves, part.commits, part.kills, part.human_lost,
                      part.acknowledged_lost, part.deletions_back, part.doubled, f"{part.slow_ms:.0f}"), flush=True)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
