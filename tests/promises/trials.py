"""A journey and the faults put into it: laid out, run, judged, and named so that it can be repeated.

`PIPIMEM_TRIAL="forget kill_after 37" pytest tests/promises/test_kills.py` runs one trial.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.promises import libc_shim
from tests.promises.journeys import Journey
from tests.promises.libc_shim import Call, Kind, Rule
from tests.promises.zygote import Child, Ended, Zygote

# `preloaded` is last: the garbage collector leaves alone whatever was loaded before it ends.
MODULES = ("tests.promises.journeys", "tests.promises.aftermath", "tests.promises.preloaded")
FAULTS: dict[str, Callable[[int], list[Rule]]] = {
    "kill_before": libc_shim.kill_before,
    "kill_within": libc_shim.kill_within,
    "kill_after": libc_shim.kill_after,
}
SEPARATOR = " "


@dataclass(frozen=True, slots=True)
class Trial:
    """A fault at a call of a journey."""

    journey: str
    fault: str
    number: int

    def __str__(self) -> str:
        return SEPARATOR.join((self.journey, self.fault, str(self.number)))


def chosen(trials: Sequence[Trial], sample: Sequence[Trial]) -> Sequence[Trial]:
    """Return the trial that the environment names, in the sample or not, else the sample."""
    name = os.environ.get("PIPIMEM_TRIAL", "")
    return [trial for trial in trials if str(trial) == name] if name else sample


def spread(trials: Sequence[Trial], count: int) -> list[Trial]:
    """Return `count` trials, the last and one drawn from each of the stretches before it.

    They are always the same ones. At the last call nearly all is acknowledged.
    """
    if len(trials) <= count:
        return list(trials)
    ends = [len(trials) * at // (count - 1) for at in range(count)]
    stretches = [trials[begin:end] for begin, end in pairwise(ends)]
    return [random.Random(str(stretch[0])).choice(stretch) for stretch in stretches] + [trials[-1]]


class Stage:
    """A folder in which one journey is prepared once and laid out for each trial."""

    def __init__(self, zygote: Zygote, folder: Path, journey: Journey) -> None:
        """Prepare the journey, and do it once without a fault."""
        self.zygote, self.journey = zygote, journey
        self.folder = folder
        self.root = folder / "workspace"
        self.before, self._known, self.log = folder / "before", folder / "known", folder / "log"
        self.root.mkdir(parents=True)
        self._run("journeys:prepare")
        shutil.copytree(self.root, self.before, symlinks=True)
        self._run("aftermath:know", file=os.fspath(self._known), said=[])
        self.lay_out()
        self.clean = self._run("journeys:perform", armed=self.root, log=self.log)
        self.calls = [call for call in libc_shim.read_log(self.log) if call.kind != Kind.NOTE]
        self._run("aftermath:know", file=os.fspath(self._known), said=self.clean.said)

    def _run(self, function: str, **options: Any) -> Ended:
        ended = self.zygote.run(
            f"tests.promises.{function}",
            name=self.journey.name,
            root=os.fspath(self.root),
            **options,
        )
        return ended.raise_unless_done()

    def lay_out(self) -> None:
        """Put what was there before the journey in the place of what is there."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.before, self.root, symlinks=True)

    def start(self, rules: Sequence[Rule] = (), function: str = "journeys:perform") -> Child:
        """Begin the journey, or another function, with what happens at its calls."""
        return self.zygote.start(
            f"tests.promises.{function}",
            name=self.journey.name,
            root=os.fspath(self.root),
            armed=self.root,
            rules=rules,
        )

    def perform(self, rules: Sequence[Rule] = (), function: str = "journeys:perform") -> Ended:
        """Do the journey, or another function, with what happens at its calls."""
        return self.start(rules, function).wait()

    def inspect(self, said: Iterable[Sequence[Any]], *, is_last: bool = True) -> list[str]:
        """Return what is wrong in the workspace, given what was acknowledged.

        `is_last` if nothing has happened since the journey.
        """
        ended = self.zygote.run(
            "tests.promises.aftermath:inspect",
            name=self.journey.name,
            root=os.fspath(self.root),
            file=os.fspath(self._known),
            said=[line for line in said if line[0] not in ("raised", "refused")],
            is_last=is_last,
        )
        wrong = [str(values[0]) for values in ended.of("wrong")]
        return wrong if ended.how == "done" else [*wrong, f"it {ended.how}: {ended.trace}"]

    def trials(self, faults: Iterable[str]) -> list[Trial]:
        """Return every call with every fault that applies to it."""
        return [
            Trial(self.journey.name, fault, call.number)
            for call in self.calls
            for fault in faults
            if fault != "kill_within" or call.kind == Kind.WRITE
        ]

    def call(self, number: int) -> Call:
        """The call of a number in the journey without a fault."""
        return self.calls[number - 1]

    def report(self, trial: Trial, wrong: Iterable[str]) -> list[str]:
        """Return what is wrong, each with what a person needs to repeat it."""
        at = self.call(trial.number) if trial.number <= len(self.calls) else "no call"
        return [f"PIPIMEM_TRIAL='{trial}' ({at}): {text}" for text in wrong]


class Stages:
    """The stages of one process, each made when it is first asked for."""

    def __init__(self, zygote: Zygote, folder: Path) -> None:
        """Make them in a folder."""
        self._zygote, self._folder = zygote, folder
        self._made: dict[str, Stage] = {}

    def of(self, journey: Journey) -> Stage:
        """Return the stage of a journey."""
        if journey.name not in self._made:
            folder = self._folder / journey.name
            self._made[journey.name] = Stage(self._zygote, folder, journey)
        return self._made[journey.name]
