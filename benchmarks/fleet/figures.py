"""What the fleet costs: claims among a million channels, round trips, a takeover, a turn."""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
from pipimem.state.postgres import FleetDatabase
from pipimem.store.fleet.visits import Visits
from pipimem.store.workspace import WorkspaceStore

from benchmarks.faults.journeys import NOW, adding, opened, runtime
from benchmarks.fleet.postgres import Server

LEASE = 2.0
_CLAIMS, _COMMITS, _TAKEOVERS, _TURNS = 200, 50, 10, 20
# A twentieth of all channels is due now, the others within the next days.
_FILL = """
    insert into pipimem.visit (workspace, id, due)
    select 'crowd', 'c' || n, now() + (n - {rows} / 20) * interval '1 second'
    from generate_series(1, {rows}) as n;
    analyze pipimem.visit
"""


def figures(root: Path, server: Server, rows: int) -> Iterator[tuple[str, str]]:
    """Each figure by its name."""
    database = FleetDatabase(server.address)
    yield from _claims(server, database, rows)
    WorkspaceStore.init(root)
    text = f'[fleet]\ndatabase = "{database.address}"\nlease_seconds = {LEASE:g}\n'
    (root / "pipimem.toml").write_text(text)
    yield "statements of a commit", _statements(root)
    yield "statements of before_turn", anyio.run(_turns, root)
    yield f"takeover after a kill, in leases of {LEASE:g} s", _takeovers(root)


def _claims(server: Server, database: FleetDatabase, rows: int) -> Iterator[tuple[str, str]]:
    server.sql(_FILL.format(rows=rows))
    visits = Visits(database, "crowd")
    times = []
    for _ in range(_CLAIMS):
        began = time.perf_counter()
        assert len(visits.claim(20)) == 20
        times.append((time.perf_counter() - began) * 1_000)
    times.sort()
    what = f"claim of 20 of {rows:,} channels, ms"
    yield what, f"p50 {statistics.median(times):.1f}, p95 {times[int(_CLAIMS * 0.95)]:.1f}"


def _statements(root: Path) -> str:
    store = opened(root)
    store.commit(adding("the first of all"), NOW)
    assert store.workspace.fleet is not None
    database = store.workspace.fleet.database
    before = database.statements
    for number in range(_COMMITS):
        store.commit(adding(f"number {number} of the things known"), NOW)
    return f"{(database.statements - before) / _COMMITS:.2f}"


async def _turns(root: Path) -> str:
    async with runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        fleet = pipimem.store.fleet
        assert fleet is not None
        before = fleet.database.statements
        for number in range(_TURNS):
            await channel.before_turn(f"what is number {number}?")
        return str(fleet.database.statements - before)


def _takeovers(root: Path) -> str:
    """From the kill of a holder to the end of another one's commit."""
    store, waits = opened(root), []
    for number in range(_TAKEOVERS):
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            _hold(root, told)
        os.read(ready, 1)
        os.kill(child, signal.SIGKILL)
        began = time.monotonic()
        store.commit(adding(f"after kill number {number}"), NOW)
        waits.append((time.monotonic() - began) / LEASE)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(told)
    return f"median {statistics.median(waits):.2f}, greatest {max(waits):.2f}"


def _hold(root: Path, told: int) -> None:
    """Never returns."""
    with opened(root).channel_folder.lock.held():
        os.write(told, b"x")
        time.sleep(60)
    os._exit(0)
