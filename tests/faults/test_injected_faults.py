"""A sample of `python -m benchmarks.faults`: kills, errors and lost writes in every journey, and
a fresh start after each.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from benchmarks.faults.injection import Fault, injected, judged, prepared
from benchmarks.faults.inspection import expected_of
from benchmarks.faults.journeys import JOURNEYS, Journey
from benchmarks.faults.outages import outages
from benchmarks.faults.recovery import journeys as recoveries
from benchmarks.faults.shim import ERRNOS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the harness forks, and knows Linux's calls"
)

NAMES = {journey.name: journey for journey in JOURNEYS}


def losses(journey: Journey, root: Path, faults: int, seed: int) -> list[str]:
    """What goes wrong at so many faults drawn by lot from all."""
    wrong: list[str] = []
    chance = random.Random(seed)
    injected(
        journey,
        root,
        lambda every: chance.sample(every, faults),
        lambda _, found: wrong.extend(found),
    )
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_a_journey_that_meets_a_fault_loses_nothing(tmp_path: Path, name: str) -> None:
    """Killed or refused at any file call: before or after, what was acknowledged is there once,
    the next commit works.
    """
    assert losses(NAMES[name], tmp_path / "w", 8, seed=1) == []


def test_a_start_that_mends_and_meets_a_fault_loses_nothing(tmp_path: Path) -> None:
    """What a crash left is mended, also where the mending is cut off itself."""
    wrong = [
        one
        for journey in recoveries(tmp_path / "w")[::6]
        for one in losses(journey, tmp_path / "w", 8, seed=2)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "name", ["append", "a commit of three files", "an old buffer merged", "forget"]
)
def test_a_power_cut_that_keeps_only_what_was_synced_loses_nothing(
    tmp_path: Path, name: str
) -> None:
    """Names and bytes that were not synced are lost in any order, cut at a sector, or zeros."""
    wrong: list[str] = []
    built = outages(NAMES[name], tmp_path / "w", 10, 3, lambda _, found: wrong.extend(found))
    assert built >= 8
    assert wrong == []


def test_the_judge_sees_a_loss(tmp_path: Path) -> None:
    """A journey that acknowledges what it never wrote is found out."""
    root = tmp_path / "w"
    honest = NAMES["append"]
    boastful = Journey(honest.name, honest.prepare, lambda _, say: say("entry", "never written"))
    expected = expected_of(honest, tree := prepared(honest, root), root)
    tree.laid(root)
    [wrong] = judged(boastful, expected, Fault(1, next(iter(ERRNOS))), root)
    assert "0 times 'never written'" in wrong
