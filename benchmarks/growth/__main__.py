"""Times every public call over every shape of text, and prints a table, the worst first.

Run: `python -m benchmarks.growth [--minutes M] [--seed N] [--skip K] [--bound 10] [--call C]
[--shape S] [--sizes 10,100,1000] [DIR]`; sizes in KB. Calls and shapes are drawn by lot, so that a
short run sees a bit of everything; `--skip` leaves out the first pairs of a seed, so that a long
run can be made in pieces. Wrong is what takes longer than the bound, grows faster than n log n, or
holds the event loop longer than 20 ms. Each pair is printed when it is measured.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from pathlib import Path

from benchmarks.growth.calls import CALLS
from benchmarks.growth.measuring import Bench, Growth, warmed
from benchmarks.growth.shapes import SHAPES
from benchmarks.machine import heading

_ROW = "{:<24}{:<32}{:>9}{:>8}{:>9}  {}"
_HELD = 0.020
# n log n from 100 KB to 1 MB has a slope of 1.08; the rest is the noise of a busy machine.
_STEEPEST = 1.3
# Nobody notices a slope below this many seconds of work.
_NOTICED = 0.2


def main() -> int:
    """Prints the table; the exit code is 1 where anything is wrong."""
    asked = _asked()
    sizes = [int(size) * 1000 for size in asked.sizes.split(",")]
    print(heading(f"Growth, {asked.sizes} KB, seed {asked.seed}"), flush=True)
    pairs = list(itertools.product(asked.call or CALLS, asked.shape or SHAPES))
    random.Random(asked.seed).shuffle(pairs)
    pairs = pairs[asked.skip :]
    found, start = list[Growth](), time.perf_counter()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        root = Path(name) / "w"
        tree = warmed(root, CALLS)
        for call, shape in pairs:
            if time.perf_counter() - start > asked.minutes * 60:
                break
            bench = Bench(tree, root, asked.bound)
            found.append(bench.grown(Growth(call, shape), CALLS[call], SHAPES[shape], sizes))
            print(_row(found[-1]), flush=True)
            if len(found) % 20 == 0:
                wrong = sum(bool(why_wrong(each)) for each in found)
                spent = time.perf_counter() - start
                print(f"… {len(found)} of {len(pairs)}, {wrong} wrong, {spent:.0f} s", flush=True)
    return _print(found, len(pairs))


def why_wrong(growth: Growth) -> str:
    """What must not be, empty where all is well."""
    reasons = [growth.hung, growth.wrong]
    slope, cpu = growth.exponent, max((each.cpu for each in growth.took), default=0.0)
    if slope is not None and slope > _STEEPEST and cpu > _NOTICED:
        reasons.append("grows too fast")
    if growth.held > _HELD:
        reasons.append("holds the loop")
    return "; ".join(filter(None, reasons))


def _print(found: list[Growth], asked: int) -> int:
    print(_ROW.format("call", "shape", "seconds", "slope", "held ms", "wrong"))
    found.sort(key=lambda each: (each.wall, each.held), reverse=True)
    for each in found:
        print(_row(each))
    wrong = sum(bool(why_wrong(each)) for each in found)
    print(f"\n{len(found)} of {asked} pairs of call and shape, {wrong} wrong")
    return 1 if wrong else 0


def _row(growth: Growth) -> str:
    """Call, shape, seconds, slope, the longest hold in milliseconds, and what is wrong."""
    slope = "" if growth.exponent is None else f"{growth.exponent:.2f}"
    seconds = "-" if growth.hung else f"{growth.wall:.2f}"
    held = f"{growth.held * 1000:.0f}"
    told = why_wrong(growth) or (growth.refused and f"(refused: {growth.refused})")
    return _ROW.format(growth.call, growth.shape, seconds, slope, held, told[:120])


def _asked() -> argparse.Namespace:
    about = "How the time of every public call grows with a text."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="then no new pair")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many pairs of the seed")
    parser.add_argument("--bound", type=int, default=10, help="seconds for one call (10)")
    parser.add_argument("--call", action="append", choices=sorted(CALLS))
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES))
    parser.add_argument("--sizes", default="10,100,1000", help="in KB, growing (10,100,1000)")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
