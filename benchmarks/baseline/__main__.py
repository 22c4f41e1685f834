"""What the code does and costs, as one table, beside another commit if one is named.

usage: python -m benchmarks.baseline [--against COMMIT] [--only GROUP ...] [--quick] [--json FILE]

The trees are measured by turns and through their public doors alone: the command line and the
Python API in a process of its own. `EVALS_DIR` (or --evals) is a folder with recorded talk and
questions, which are not part of the project; without it their rows are not measured.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.baseline import house, labels, notes_recall, speed, talk
from benchmarks.baseline.effort import QUICK, Effort
from benchmarks.baseline.table import Table
from benchmarks.baseline.trees import Tree, checked_out, describe
from benchmarks.machine import heading

GROUPS = ("house", "notes", "labels", "talk", "speed")


def measure(
    table: Table, found: Sequence[Tree], evals: Path | None, effort: Effort, groups: Sequence[str]
) -> None:
    """Add the rows of the groups."""
    for group in groups:
        began = time.monotonic()
        match group:
            case "house":
                house.measure(table, found)
            case "notes":
                notes_recall.measure(table, found, evals, effort)
            case "labels":
                labels.measure(table, found, evals, effort)
            case "talk":
                talk.measure(table, found, evals, effort)
            case "speed":
                speed.measure(table, found, evals, effort)
        table.say(f"{group}: {time.monotonic() - began:.0f} s")


def main() -> None:
    """Measure and print the table."""
    given = _arguments()
    load = os.getloadavg()[0]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the worktree is removed
    with checked_out(given.against, given.folder) as found:
        table = Table([tree.label for tree in found])
        about = describe(found)
        effort = QUICK if given.quick else Effort()
        measure(table, found, given.evals, effort, given.only or GROUPS)
    print(heading("# Baseline", "anyio", "jieba", "litellm"))
    print(*about, f"load at the start: {load:.1f}; {effort.rounds} rounds by turns", sep="\n")
    print(*table.markdown(), sep="\n")
    if given.json:
        given.json.write_text("\n".join(table.json_lines()) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline", description=__doc__)
    parser.add_argument(
        "--against", default="", metavar="COMMIT", help="the commit to compare with"
    )
    parser.add_argument("--only", action="append", choices=GROUPS, help="a group; may be repeated")
    parser.add_argument("--quick", action="store_true", help="a small sample of each row")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a line for each figure")
    parser.add_argument("--folder", type=Path, help="where workspaces are made (their disk)")
    variable = os.environ.get("EVALS_DIR")
    default = Path(variable) if variable else None
    parser.add_argument("--evals", type=Path, default=default, metavar="EVALS_DIR")
    return parser.parse_args()


if __name__ == "__main__":
    main()
