"""People save while bots commit: a quick sample. `python -m benchmarks.races` does it for long."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.races.hands import WAYS
from benchmarks.races.storm import storm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the promise is a lesser one")


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost_whatever_way_people_save(tmp_path: Path, way: str) -> None:
    """Stale buffers, deletions and all: no human line, no acknowledged fact, nothing back, nothing twice."""
    count = storm(tmp_path / "bot", way, 8, seed=7, is_stale=True, deletes=True)
    assert count.losses == 0, count
    assert count.saves >= 8


def test_nothing_is_lost_when_bots_are_killed(tmp_path: Path) -> None:
    """In the middle of whatever they do."""
    count = storm(tmp_path / "bot", "truncate and write", 12, seed=3, is_stale=False, deletes=True, kills=True)
    assert count.losses == 0, count
