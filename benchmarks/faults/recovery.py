"""Faults while a start mends what an earlier fault left, and while the next start mends that."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.injection import KILL, Fault, calls_of, judged, met, prepared
from benchmarks.faults.inspection import expected_of
from benchmarks.faults.journeys import (
    CONSOLIDATION,
    EDIT,
    FORGETTING,
    Journey,
    doctored,
    open_after,
)
from benchmarks.faults.shim import ERRNOS
from benchmarks.faults.tree import Tree

Tell = Callable[[object, list[str]], None]


def unfinished(root: Path) -> dict[str, Callable[[Path], None]]:
    """What there is to mend, by name: journeys killed at the worst call, laid out anew as often as
    wanted.
    """
    worst = (
        (CONSOLIDATION, "exchange", 0), (CONSOLIDATION, "exchange", 1), (CONSOLIDATION, "replace",
        -1),
        (EDIT, "exchange", 0), (FORGETTING, "replace", 3), (FORGETTING, "replace", -1),
    )  # fmt: skip
    found = {}
    for journey, name, which in worst:
        tree = prepared(journey, root)
        at = [
            number for number, call in enumerate(calls_of(journey, tree, root), 1) if call == name
        ][which]
        tree.laid(root)
        assert met(journey, Fault(at, KILL), root).how == "killed"
        left = Tree.of(root)
        found[f"{journey.name} killed at call {at} ({name})"] = lambda folder, left=left: _laid(
            left, folder
        )
    return found


def journeys(root: Path) -> list[Journey]:
    """Opening each of them, and the doctor at one."""
    left = unfinished(root)
    opening = [open_after(name, prepare) for name, prepare in left.items()]
    return [*opening, doctored(next(iter(left.values())))]


def twice(journey: Journey, root: Path, share: float, seed: int, tell: Tell) -> None:
    """A kill or EIO at calls of the first recovery drawn by lot, then again at calls of the
    second.
    """
    chance = random.Random(seed)
    tree = prepared(journey, root)
    expected = expected_of(journey, tree, root)
    io_error = next(iter(ERRNOS))
    for first in range(1, len(calls_of(journey, tree, root)) + 1):
        if chance.random() >= share:
            continue
        tree.laid(root)
        ended = met(journey, Fault(first, chance.choice((KILL, io_error)), lasts=True), root)
        left = Tree.of(root)
        again = Journey(
            f"{journey.name}, cut off at call {first}",
            lambda _: None,
            journey.run,
            apart=journey.apart,
        )
        for second in chance.sample(range(1, len(calls_of(again, left, root)) + 1), 3):
            left.laid(root)
            fault = Fault(second, chance.choice((KILL, io_error)))
            tell(fault, judged(again, expected, fault, root, before=ended.said))


def _laid(tree: Tree, folder: Path) -> None:
    tree.laid(folder)
