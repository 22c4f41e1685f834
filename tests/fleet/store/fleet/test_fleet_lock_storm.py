"""Hosts that talk and learn in one channel while they are killed, frozen, cut off.

`python -m benchmarks.fleet storm` has hundreds of faults; here a few stand for them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.fleet.postgres import Server
from benchmarks.fleet.storm import Storm
from benchmarks.fleet.ways import Sockets
from pipimem.state.postgres import FleetDatabase

SEED, FAULTS = 19, 12


def test_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path, server: Server, database: FleetDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever hit whom: all that a host was told was kept is there, once."""
    assert database.statements
    monkeypatch.setenv("PGHOST", str(server.folder))
    storm = Storm(tmp_path / "bot", server, SEED, Sockets(server, tmp_path))
    assert storm.run(FAULTS) == []
    assert storm.acknowledged()["message"] > FAULTS
