"""What an operator sees of a fleet."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.journeys import NOW, adding, opened
from pipimem.runtime.fleet.overview import fleet_findings, fleet_overview
from pipimem.state.postgres import FleetDatabase
from pipimem.store.fleet.visits import Visits


def test_hosts_leases_and_due_channels(root: Path, database: FleetDatabase) -> None:
    """Those of this workspace."""
    store = opened(root)
    store.commit(adding("one"), NOW)
    fleet = store.workspace.fleet
    assert fleet is not None
    Visits(database, fleet.name).set("team", -1)
    Visits(database, "another").set("team", -1)
    with store.channel_folder.lock.held():
        overview = fleet_overview(fleet)
    assert [(host.name, host.leases) for host in overview.hosts] == [(fleet.host, 1)]
    assert (overview.due, overview.late) == (1, 0)
    assert overview.lines()[-1] == "1 channels are due, 0 for 5 minutes or longer"


def test_the_doctor_misses_a_worker(root: Path, database: FleetDatabase) -> None:
    """Only where something has been due for long."""
    fleet = opened(root).workspace.fleet
    assert fleet is not None
    assert list(fleet_findings(fleet)) == []
    Visits(database, fleet.name).set("team", -1)
    assert list(fleet_findings(fleet)) == []
    Visits(database, fleet.name).set("team", -301)
    (finding,) = fleet_findings(fleet)
    assert finding.what.startswith("1 channels have been due for 5 minutes or longer: no host runs")
