"""What an operator sees of a fleet, and runs for it: hosts, leases, due channels, tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import DatabaseUnavailable
from pipimem.resources import fleet_rights
from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import make_tables
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.health.finding import Finding, wrong
from pipimem.store.workspace_state import WORKSPACE

# The name of an owner ends with its process and a random part.
_HOSTS = """
    select regexp_replace(last_holder, '-[0-9]+-[0-9a-f]+$', ''),
           count(*) filter (where holder <> '' and until > clock_timestamp()), max(until)
    from pipimem.lease where id ^@ %(beginning)s group by 1 order by 1
"""


@dataclass(frozen=True, slots=True)
class FleetHost:
    """A host that wrote in a workspace; `seen` is when its newest lease ends, or ended."""

    name: str
    leases: int
    seen: datetime


@dataclass(frozen=True, slots=True)
class FleetOverview:
    """A workspace's fleet; `late` channels have been due for five minutes or longer."""

    hosts: tuple[FleetHost, ...]
    due: int
    late: int

    def lines(self) -> list[str]:
        """Return the overview for eyes."""
        lines = [f"{host.name}: {host.leases} leases, {_seen(host)}" for host in self.hosts]
        return [*lines, f"{self.due} channels are due, {self.late} for 5 minutes or longer"]


def fleet_overview(fleet: Fleet) -> FleetOverview:
    """Return how a fleet stands. Raises `DatabaseUnavailable`."""
    found = fleet.database.rows(_HOSTS, {"beginning": f"{fleet.name}/"})
    hosts = tuple(FleetHost(str(name), count, seen) for name, count, seen in found)
    due, late = fleet.visits.waiting()
    return FleetOverview(hosts, due, late)


def fleet_findings(fleet: Fleet) -> Iterator[Finding]:
    """What the doctor says: whether there are tables, and a worker for what is due."""
    try:
        overview = fleet_overview(fleet)
    except DatabaseUnavailable as error:
        yield wrong("pipimem.toml, [fleet]", str(error))
        return
    if overview.late:
        what = (
            f"{overview.late} channels have been due for 5 minutes or longer: no host runs "
            "`pipimem watch --fleet`, or those that do have too much to do"
        )
        yield wrong("pipimem.toml, [fleet]", what)


def tables_sql(role: str) -> str:
    """Return what an administrator runs once: all tables, then the rights of a role."""
    statements = "".join(f"{statement};\n" for statement in make_tables(SCHEMA, WORKSPACE))
    return statements + fleet_rights().replace("pipimem_bot", role)


def _seen(host: FleetHost) -> str:
    return f"last lease until {host.seen.astimezone():%Y-%m-%d %H:%M:%S}"
