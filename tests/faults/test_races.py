"""People save while bots commit: a sample of every kind. `python -m benchmarks.races` does it
for long.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.races.__main__ import KINDS, Kind
from benchmarks.races.storm import storm

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the promise is a lesser one"
)


def name(kind: Kind) -> str:
    """As the table of the benchmark has it."""
    return (
        f"{kind.way}, {'stale' if kind.is_stale else 'fresh'}{', deletes' if kind.deletes else ''}"
    )


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_nothing_is_lost_whatever_way_people_save(tmp_path: Path, kind: Kind) -> None:
    """Five ways, fresh and stale buffers, deletions: no human line and no fact lost, nothing
    back, nothing twice.
    """
    count = storm(
        tmp_path / "bot", kind.way, 16, seed=7, is_stale=kind.is_stale, deletes=kind.deletes
    )
    assert count.losses == 0, count
    assert count.saves >= 16


@pytest.mark.parametrize("way", ["truncate and write", "rename over"])
def test_nothing_is_lost_when_bots_are_killed(tmp_path: Path, way: str) -> None:
    """In the middle of whatever they do."""
    count = storm(tmp_path / "bot", way, 16, seed=3, is_stale=True, deletes=True, kills=True)
    assert count.losses == 0, count
