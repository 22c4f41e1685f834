"""Kills a bot while a person saves, and prints what was lost.

Run: `python -m benchmarks.editors [--trials N] [--seed S] [--minutes M] [--journey J] [--style S]
[--number K] [--sweep N] [--skip K] [DIR]`; N trials for each of six journeys and five styles, in
rounds, until they are done or the time is over. `--number` replays one trial of a journey and a
style. `--sweep` kills at every file call of a journey, N times each, with a save at a random call
before it; `--skip` leaves out the first trials of a seed, so that it can be run in pieces.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.editors.journeys import JOURNEYS
from benchmarks.editors.judge import AMBIGUOUS, COLUMNS, Loss, judged
from benchmarks.editors.styles import STYLES
from benchmarks.editors.trial import Editor, Plan, memory_of, met
from benchmarks.faults.child import in_child
from benchmarks.faults.injection import calls_of, prepared
from benchmarks.faults.journeys import Journey, opened
from benchmarks.faults.tree import Tree
from benchmarks.machine import heading
from benchmarks.races.judging import looks

_ROW = "{:<12}{:<20}{:>8}{:>8}" + "{:>12}" * len(COLUMNS)
_EXAMPLES = 8
_TOLD_EVERY = 50


@dataclass(frozen=True, slots=True)
class Case:
    """One trial; `kill` is the file call it is killed at, 0 where the lot decides."""

    journey: str
    style: str
    number: int
    kill: int = 0

    def __str__(self) -> str:
        at = f" at {self.kill}" if self.kill else ""
        return f"{self.journey} {self.style} {self.number}{at}"


@dataclass(slots=True)
class Bed:
    """A journey's workspace, and how long the journey is when nobody disturbs it."""

    journey: Journey
    root: Path
    tree: Tree = field(init=False)
    calls: list[str] = field(init=False)
    seconds: float = field(init=False)
    past: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.tree = prepared(self.journey, self.root)
        self.calls = calls_of(self.journey, self.tree, self.root)
        self.tree.laid(self.root)
        self.past = _past_texts(self.root)
        start = time.perf_counter()
        in_child(lambda say: self.journey.run(self.root, say))
        self.seconds = time.perf_counter() - start

    def trial(self, case: Case, seed: int) -> tuple[bool, Plan, list[Loss]]:
        """One: whether the bot was killed, when it all was to happen, and what is wrong."""
        dice = random.Random(f"{seed} {case}")
        self.tree.laid(self.root)
        path = memory_of(self.root)
        plan = Plan.drawn(dice, self.calls, self.seconds)
        if case.kill:
            save = dice.randint(1, case.kill)
            plan = replace(plan, by_call=True, save=save, kill=case.kill)
        before, editor = path.read_text(), Editor(path, case.style, plan, dice)
        ended = met(self.journey, self.root, editor)
        return ended.how == "killed", plan, judged(self.root, before, editor, ended, self.past)


def _past_texts(root: Path) -> frozenset[str]:
    """All texts that MEMORY.md was, by its journal."""
    return frozenset(
        text
        for look in looks(opened(root).journal_records(), ())
        for text in (look.before, look.after)
    )


@dataclass(slots=True)
class Row:
    """The trials of one journey and one style."""

    trials: int = 0
    kills: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    def take(self, case: Case, *, killed: bool, plan: Plan, losses: list[Loss]) -> None:
        """One more trial; a loss counts once a column, however many lines went."""
        self.trials += 1
        self.kills += killed
        self.losses.update({loss.column for loss in losses})
        first = {loss.column: loss.told[:400] for loss in reversed(losses)}
        self.told += [f"{case}: {column}: {told} [{plan}]" for column, told in first.items()]


def main() -> int:
    """Prints the table; the exit code is 1 where anything was lost."""
    asked = _asked()
    print(heading(f"Kills beside an editor, seed {asked.seed}"))
    start = time.perf_counter()
    rows: dict[tuple[str, str], Row] = {}
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        beds = {each: Bed(JOURNEYS[each], Path(name) / each) for each in asked.journey or JOURNEYS}
        cases = _cases(asked, beds)[asked.skip :]
        for done, case in enumerate(cases):
            spent = time.perf_counter() - start
            if done % _TOLD_EVERY == 0:
                losses = sum((row.losses for row in rows.values()), Counter[str]())
                print(f"… {done} of {len(cases)}, {spent:.0f} s, {dict(losses)}", flush=True)
            if spent > asked.minutes * 60:
                break
            killed, plan, found = beds[case.journey].trial(case, asked.seed)
            row = rows.setdefault((case.journey, case.style), Row())
            row.take(case, killed=killed, plan=plan, losses=found)
    return _print(rows)


def _cases(asked: argparse.Namespace, beds: dict[str, Bed]) -> list[Case]:
    """Rounds of every journey and style; or `sweep` times every call of each journey, shuffled."""
    styles, dice = list(asked.style or STYLES), random.Random(asked.seed)
    if asked.sweep:
        found = [
            Case(name, dice.choice(styles), each, kill)
            for name, bed in beds.items()
            for kill in range(1, len(bed.calls) + 1)
            for each in range(asked.sweep)
        ]
        dice.shuffle(found)
        return found
    numbers = range(asked.trials) if asked.number is None else [asked.number]
    return [Case(name, style, number) for number in numbers for name in beds for style in styles]


def _print(rows: dict[tuple[str, str], Row]) -> int:
    print(_ROW.format("journey", "style", "trials", "kills", *COLUMNS))
    total = Row()
    for (journey, style), row in sorted(rows.items()):
        _print_row(journey, style, row)
        total.trials, total.kills = total.trials + row.trials, total.kills + row.kills
        total.losses += row.losses
    _print_row("all", "", total)
    for _, row in sorted(rows.items()):
        for told in row.told[:_EXAMPLES]:
            print(told)
    return 1 if any(count for column, count in total.losses.items() if column != AMBIGUOUS) else 0


def _print_row(journey: str, style: str, row: Row) -> None:
    counts = (row.losses[column] for column in COLUMNS)
    print(_ROW.format(journey, style, row.trials, row.kills, *counts), flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kills of a bot while a person saves.")
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--trials", type=int, default=10, help="for each journey and style (10)")
    parser.add_argument("--sweep", type=int, default=0, help="kills at every file call")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many trials of the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="then no new trial")
    parser.add_argument("--journey", action="append", choices=sorted(JOURNEYS))
    parser.add_argument("--style", action="append", choices=sorted(STYLES))
    parser.add_argument("--number", type=int, help="only this trial of each")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
