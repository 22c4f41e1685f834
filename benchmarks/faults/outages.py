"""Journeys cut short by power, on paper: each state the disk may be left in, opened again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.child import Ended
from benchmarks.faults.injection import prepared
from benchmarks.faults.inspection import Faulted, expected_of, problems
from benchmarks.faults.journeys import Journey
from benchmarks.faults.recording import recorded
from benchmarks.faults.states import State, states

Tell = Callable[[object, list[str]], None]


def outages(journey: Journey, root: Path, limit: int, seed: int, tell: Tell) -> int:
    """Builds up to `limit` states of a journey, drawn by lot from all, and tells what is wrong in
    each.

    The answer is how many there are.
    """
    tree = prepared(journey, root)
    expected = expected_of(journey, tree, root)
    chance = random.Random(seed)
    every = list(states(recorded(journey, tree, root), chance))
    for number in sorted(chance.sample(range(len(every)), min(limit, len(every)))):
        tell(
            number,
            _judged(
                journey,
                every[number],
                root,
                Faulted(journey, expected, Ended("killed", every[number].told)),
                number,
            ),
        )
    return len(every)


def _judged(journey: Journey, state: State, root: Path, faulted: Faulted, number: int) -> list[str]:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(mode=0o700)
    state.laid(root)
    return [f"{journey.name}, state {number}: {one}" for one in problems(root, faulted)]
