"""Runs the faults and prints how many there were and what went wrong.

Run: `python -m benchmarks.faults [--long] [--only PART] [--seed N] [DIR]`; DIR is where to work (a
folder in memory is fastest). The short run takes a sample of some minutes, the long one everything
but the errors, of which it takes one in twenty-four.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.faults import cuts, misses, recovery, room
from benchmarks.faults.injection import KILL, TORN, Fault, injected
from benchmarks.faults.journeys import JOURNEYS, Journey
from benchmarks.faults.outages import outages
from benchmarks.machine import heading

_ROW = "{:<14}{:<62}{:>8}{:>8}{:>8}"


@dataclass(slots=True)
class MessageCounts:
    """The faults of one part: how many, and what went wrong."""

    count: int = 0
    wrong: list[str] = field(default_factory=list)

    def tell(self, _: object, wrong: list[str]) -> None:
        """One more."""
        self.count += 1
        self.wrong += wrong


@dataclass(slots=True)
class Run:
    """What is asked, and what came of it."""

    top: Path
    is_long: bool
    seed: int
    totals: dict[str, MessageCounts] = field(default_factory=dict)

    def row(self, part: str, name: str, work: Callable[[MessageCounts], None]) -> None:
        """Does one piece and prints its row."""
        start, tally = time.perf_counter(), MessageCounts()
        work(tally)
        print(
            _ROW.format(
                part, name, tally.count, len(tally.wrong), f"{time.perf_counter() - start:.0f}"
            ),
            flush=True,
        )
        for one in tally.wrong[:20]:
            print(f"    {one[:1000]}", flush=True)
        total = self.totals.setdefault(part, MessageCounts())
        total.count += tally.count
        total.wrong += tally.wrong

    def share(self, short: float, long: float) -> float:
        """How much of everything is taken."""
        return long if self.is_long else short


def main() -> int:
    """Prints the table; the exit code is 1 where anything went wrong."""
    parser = argparse.ArgumentParser(
        description="Kills, errors, full disks and power cuts, and what is lost."
    )
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", choices=sorted(_PARTS))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(heading(f"Faults, {'long' if asked.long else 'short'}, seed {asked.seed}"))
    print(_ROW.format("kind", "where", "faults", "wrong", "s"))
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        run = Run(Path(name), asked.long, asked.seed)
        for part in [asked.only] if asked.only else _PARTS:
            _PARTS[part](run)
    for part, tally in run.totals.items():
        print(_ROW.format(part, "all", tally.count, len(tally.wrong), ""))
    faults = sum(tally.count for tally in run.totals.values())
    wrong = sum(len(tally.wrong) for tally in run.totals.values())
    print(f"\n{faults} faults, {wrong} wrong")
    return 1 if wrong else 0


def _kills(run: Run) -> None:
    _inject(run, "kills", run.share(0.1, 1.0), lambda fault: fault.what in (KILL, TORN))


def _errors(run: Run) -> None:
    _inject(run, "errors", run.share(1 / 150, 1 / 24), lambda fault: fault.what not in (KILL, TORN))


def _inject(run: Run, part: str, share: float, is_kind: Callable[[Fault], bool]) -> None:
    chance = random.Random(run.seed)

    def drawn(faults: list[Fault]) -> list[Fault]:
        return [one for one in faults if is_kind(one) and chance.random() < share]

    for journey in JOURNEYS:
        run.row(part, journey.name, partial(_injected, journey, run.top / "w", drawn))


def _injected(
    journey: Journey, root: Path, drawn: Callable[[list[Fault]], list[Fault]], tally: MessageCounts
) -> None:
    injected(journey, root, drawn, tally.tell)


def _recoveries(run: Run) -> None:
    chance, root = random.Random(run.seed), run.top / "w"

    def drawn(faults: list[Fault]) -> list[Fault]:
        return [
            one
            for one in faults
            if chance.random() < run.share(1 / 300, 1 / 30 if one.what > 0 else 1 / 3)
        ]

    for journey in recovery.journeys(root):
        run.row("recovery", journey.name, partial(_injected, journey, root, drawn))
        share = run.share(0.01, 0.1)
        run.row(
            "twice",
            journey.name,
            lambda tally: recovery.twice(journey, root, share, run.seed, tally.tell),  # noqa: B023
        )


def _full(run: Run) -> None:
    if why := room.why_not():
        print(f"SKIPPED full disks: {why}")
        return
    with room.small_disk(run.top / "small") as disk:
        for journey in JOURNEYS:
            every = 1 if run.is_long else 8
            run.row(
                "full disk",
                journey.name,
                lambda tally: room.filled(journey, disk, every, tally.tell),  # noqa: B023
            )


def _outages(run: Run) -> None:
    for journey in JOURNEYS:
        limit = 600 if run.is_long else 30
        run.row(
            "outages",
            journey.name,
            lambda tally, journey=journey, limit=limit: outages(
                journey, run.top / "w", limit, run.seed, tally.tell
            ),
        )


def _cuts(run: Run) -> None:
    for system in cuts.SYSTEMS:
        if why := cuts.why_not(system):
            print(f"SKIPPED power cuts on {system}: {why}")
            continue
        number = 300 if run.is_long else 10
        run.row(
            "power cuts",
            system,
            lambda tally: cuts.cut_off(system, run.top, number, run.seed, tally.tell),  # noqa: B023
        )


def _misses(run: Run) -> None:
    if why := misses.why_not():
        print(f"SKIPPED calls past the shim: {why}")
        return
    for journey in JOURNEYS:
        run.row(
            "past the shim",
            journey.name,
            lambda tally: misses.missed(journey, run.top / "w", tally.tell),  # noqa: B023
        )


_PARTS: dict[str, Callable[[Run], None]] = {
    "misses": _misses, "kills": _kills, "errors": _errors, "recovery": _recoveries, "full": _full,
    "outages": _outages, "cuts": _cuts,
}  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
