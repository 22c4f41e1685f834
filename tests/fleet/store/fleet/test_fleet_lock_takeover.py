"""A host frozen at a file call, another one takes over, and the first one thaws.

`python -m benchmarks.fleet` freezes at every call; here calls drawn by lot stand for them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.faults.journeys import Journey
from benchmarks.fleet.freezes import FROZEN, Freezer
from pipimem.state.postgres import FleetDatabase

SEED, SAMPLE = 19, 12


@pytest.mark.parametrize("journey", FROZEN, ids=lambda journey: journey.name)
def test_nothing_stale_is_accepted_and_nothing_acknowledged_lost(
    journey: Journey, tmp_path: Path, database: FleetDatabase
) -> None:
    """Wherever it froze: all that was acknowledged is there once, no change is out of order, no
    file is as the newest change did not leave it, and both hosts go on."""
    freezer = Freezer(tmp_path / "bot", database)
    tree = freezer.prepared(journey)
    calls = range(1, len(freezer.calls(journey, tree)) + 1)
    chosen = sorted(random.Random(SEED).sample(calls, SAMPLE))
    assert [freezer.frozen(journey, tree, at) for at in chosen] == [[]] * SAMPLE


def test_an_undo_that_landed_before_the_takeover_is_acknowledged(
    tmp_path: Path, database: FleetDatabase
) -> None:
    """Suspended between the transaction and the answer, it is looked for in the state: done once more
    it would be refused, as taken back already by itself."""
    (journey,) = [each for each in FROZEN if each.name == "undo of a record"]
    freezer = Freezer(tmp_path / "bot", database)
    tree = freezer.prepared(journey)
    calls = enumerate(freezer.calls(journey, tree), 1)
    exchanged = [at for at, name in calls if name == "exchange"]
    assert exchanged
    assert [freezer.frozen(journey, tree, at) for at in exchanged] == [[]] * len(exchanged)
