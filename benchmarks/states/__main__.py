"""Damages every file of ours, one at a time, and prints what broke over it.

Run: `python -m benchmarks.states [--count 5000] [--seed N] [--minutes M] [--state NUMBER] [--keep
DIR] [DIR]`; DIR is where to work (a folder in memory is fastest). A star behind the damage: a bot
was running. `--state` replays one state of a seed, `--keep` copies the workspace of each wrong
state aside, as it lay there before anybody looked.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.machine import heading
from benchmarks.states.fuzz import Fuzz, State, sort_of

_ROW = "{:<20}{:<34}{:>8}{:>8}  {}"
_TOLD_EVERY = 100
_EXAMPLES = 40


def main() -> int:
    """Prints the table; the exit code is 1 where anything went wrong."""
    asked = _asked()
    print(heading(f"Damaged states, seed {asked.seed}"))
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        Path(name).chmod(0o711)  # a user without rights works in it
        fuzz = Fuzz(Path(name) / "w", asked.seed, asked.keep)
        states = _drawn(fuzz, asked)
    _print(states)
    for state in [each for each in states if each.wrong][:_EXAMPLES]:
        print(f"\nstate {state.number} of seed {asked.seed}: {state.kind}, {state.file}")
        for one in state.wrong:
            print(f"    {one[:600]}")
    wrong = sum(bool(state.wrong) for state in states)
    print(f"\n{len(states)} states, {wrong} wrong")
    return 1 if wrong else 0


def _asked() -> argparse.Namespace:
    about = "Damaged files of ours, and what breaks over them."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--count", type=int, default=5_000, help="states (5,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after so many")
    parser.add_argument("--state", type=int, help="only this one")
    parser.add_argument("--keep", type=Path, help="a folder for the workspaces of wrong states")
    return parser.parse_args()


def _drawn(fuzz: Fuzz, asked: argparse.Namespace) -> list[State]:
    """States until there are enough, or the time is over."""
    start, found, number = time.perf_counter(), list[State](), asked.state or 0
    while len(found) < asked.count and time.perf_counter() - start < asked.minutes * 60:
        state = fuzz.state(number)
        number += 1
        found += [state] if state else []
        if state and len(found) % _TOLD_EVERY == 0:
            wrong = sum(bool(each.wrong) for each in found)
            spent = time.perf_counter() - start
            print(f"… {len(found)} states, {wrong} wrong, {spent:.0f} s", flush=True)
        if asked.state is not None:
            break
    return found


def _print(states: list[State]) -> None:
    """A row for each kind of damage and kind of file, and what went wrong most often there."""
    rows: defaultdict[tuple[str, str], list[State]] = defaultdict(list)
    for state in states:
        rows[state.kind, sort_of(state.file)].append(state)
    print(_ROW.format("damage", "file", "states", "wrong", "most often"))
    for (kind, file), row in sorted(rows.items()):
        most = Counter(_short(one) for state in row for one in set(state.wrong)).most_common(1)
        told = f"{most[0][0]} ({most[0][1]})" if most else ""
        print(_ROW.format(kind, file, len(row), sum(bool(state.wrong) for state in row), told))


def _short(wrong: str) -> str:
    return wrong[:80].replace("\n", " ")


if __name__ == "__main__":
    raise SystemExit(main())
