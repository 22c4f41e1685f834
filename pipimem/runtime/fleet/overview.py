"""What an operator sees of a fleet: hosts, leases, due channels, the queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import DatabaseUnavailable
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.health.finding import Finding, wrong

# The name of an owner ends with its process and a random part.
_HOSTS = """
    select regexp_replace(last_holder, '-[0-9]+-[0-9a-f]+$', ''),
           count(*) filter (where holder <> '' and until > clock_timestamp()), max(until)
    from pipimem.lease where id ^@ %(beginning)s group by 1 order by 1
"""
_HAS_QUEUE = "select to_regclass('procrastinate_jobs') is not null"
_QUEUE = """
    select count(*) filter (where status = 'todo'), count(*) filter (where status = 'doing'),
           (select count(*) from procrastinate_workers
            where last_heartbeat > now() - interval '30 seconds')
    from procrastinate_jobs where queue_name = %(queue)s
"""


@dataclass(frozen=True, slots=True)
class FleetHost:
    """A host that wrote in a workspace; `seen` is when its newest lease ends, or ended."""

    name: str
    leases: int
    seen: datetime


@dataclass(frozen=True, slots=True)
class FleetOverview:
    """A workspace's fleet; `workers` counts those of all workspaces in the database."""

    hosts: tuple[FleetHost, ...]
    due: int
    waiting: int
    under_way: int
    workers: int

    def lines(self) -> list[str]:
        """For eyes."""
        lines = [f"{host.name}: {host.leases} leases, {_seen(host)}" for host in self.hosts]
        queue = f"{self.waiting} jobs wait, {self.under_way} are under way"
        return [*lines, f"{self.due} channels are due, {queue}, {self.workers} workers"]


def fleet_overview(fleet: Fleet) -> FleetOverview:
    """How a fleet stands. Raises `DatabaseUnavailable`."""
    found = fleet.database.rows(_HOSTS, {"beginning": f"{fleet.name}/"})
    hosts = tuple(FleetHost(str(name), count, seen) for name, count, seen in found)
    due, _ = fleet.visits.waiting()
    waiting, under_way, workers = 0, 0, 0
    if fleet.database.rows(_HAS_QUEUE)[0][0]:
        queue = {"queue": queue_name(fleet.name)}
        [(waiting, under_way, workers)] = fleet.database.rows(_QUEUE, queue)
    return FleetOverview(hosts, due, waiting, under_way, workers)


def fleet_findings(fleet: Fleet) -> Iterator[Finding]:
    """What the doctor says: whether there are tables, and a worker for what is due."""
    try:
        overview = fleet_overview(fleet)
    except DatabaseUnavailable as error:
        yield wrong("pipimem.toml, [fleet]", str(error))
        return
    if overview.due and not overview.workers:
        what = f"{overview.due} channels are due, and no host runs `pipimem watch --fleet`"
        yield wrong("pipimem.toml, [fleet]", what)


def queue_name(workspace: str) -> str:
    """What the queue of a workspace is called."""
    return f"pipimem {workspace}"


def _seen(host: FleetHost) -> str:
    return f"last lease until {host.seen.astimezone():%Y-%m-%d %H:%M:%S}"
