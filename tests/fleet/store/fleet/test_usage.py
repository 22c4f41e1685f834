"""Calls and reservations of several hosts count as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs
from pipimem.errors import DatabaseUnavailable
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.state.postgres import FleetDatabase
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.fleet.usage import FleetUsage
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState

_NOW = datetime.now().astimezone().replace(microsecond=0)
_MIDNIGHT = _NOW - timedelta(hours=1)


def _usage(**changes: object) -> Usage:
    usage = Usage(
        time=_NOW.isoformat(),
        channel="群/聊=",
        task="consolidate",
        model="openai/m",
        tokens_in=100,
        tokens_out=20,
        tokens_cached=0,
        cost=None,
        latency=1.25,
        outcome="ok",
        correlation="c1",
    )
    return structs.replace(usage, **changes)  # type: ignore[arg-type]


def _hold(seconds: float = 60.0) -> Reservation:
    until = (datetime.now().astimezone() + timedelta(seconds=seconds)).isoformat()
    return Reservation(_NOW.isoformat(), until, "c", "tidy", "m", 10, 20, 0.5, "k")


@pytest.fixture
def host(database: FleetDatabase, tmp_path: Path) -> Callable[[str], FleetUsage]:
    """Makes the usage store of a host; all of them share a workspace and a database."""
    own = tmp_path / ".pipimem"
    own.mkdir()

    def made(name: str) -> FleetUsage:
        fleet = Fleet(tmp_path, "w", database, lease_seconds=1.0)
        return FleetUsage(own, "w", name, database, fleet.lock)

    return made


def test_a_call_of_one_host_is_read_once_by_each(host: Callable[[str], FleetUsage]) -> None:
    """Every field but the reason comes through the database."""
    one, two = host("one"), host("two")
    cursor = UsageCursor(_MIDNIGHT)
    assert two.fresh(cursor) == []
    one.append(_usage(reason="the answer was not accepted", outcome="refused"))
    assert two.fresh(cursor) == [_usage(outcome="refused")]
    assert two.fresh(cursor) == []
    assert one.usages(_MIDNIGHT) == [_usage(outcome="refused")]
    assert one.usages(_MIDNIGHT, "another") == []


def test_a_call_of_yesterday_is_not_todays(host: Callable[[str], FleetUsage]) -> None:
    """A cursor begins at its time."""
    one = host("one")
    one.append(_usage(time=(_MIDNIGHT - timedelta(seconds=1)).isoformat()))
    one.append(_usage(time=_MIDNIGHT.isoformat(), correlation="c2"))
    assert [usage.correlation for usage in one.fresh(UsageCursor(_MIDNIGHT))] == ["c2"]


def test_each_host_has_a_file_of_its_own(host: Callable[[str], FleetUsage], tmp_path: Path) -> None:
    """Its record has the reason, which the database has not."""
    host("one").append(_usage(reason="words"))
    host("two").append(_usage(correlation="c2"))
    own = tmp_path / ".pipimem"
    assert sorted(path.name for path in own.glob("*.db")) == ["state~one.db", "state~two.db"]
    assert UsageStore(WorkspaceState(own, "one")).usages() == [_usage(reason="words")]


def test_a_call_that_ended_while_the_database_was_gone_is_counted_later(
    host: Callable[[str], FleetUsage], tmp_path: Path
) -> None:
    """It stands in the host's file, and goes to the database with the next reading, once."""
    nowhere = FleetDatabase("postgresql:///x?host=/nowhere")
    gone = replace(host("one"), database=nowhere, make_lock=FolderLock)
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        gone.append(_usage())
    one, two = host("one"), host("two")
    assert one.fresh(UsageCursor(_MIDNIGHT)) == [_usage()]
    assert one.fresh(UsageCursor(_MIDNIGHT)) == [_usage()]
    assert two.fresh(UsageCursor(_MIDNIGHT)) == [_usage()]


def test_a_reservation_of_one_host_is_seen_and_released_by_another(
    host: Callable[[str], FleetUsage],
) -> None:
    """Released once: who comes second is told that it was gone."""
    one, two = host("one"), host("two")
    name = one.place(_hold())
    (seen,) = two.held().values()
    assert seen.tokens == 30
    assert seen.cost == 0.5
    assert two.release(name) is True
    assert one.release(name) is False
    assert two.held() == {}


def test_the_end_of_a_reservation_does_not_hang_on_the_hosts_clocks(
    host: Callable[[str], FleetUsage],
) -> None:
    """What counts is how long it was to last when it was placed."""
    one = host("one")
    one.place(_hold(seconds=60))
    (seen,) = host("two").held().values()
    left = datetime.fromisoformat(seen.until) - datetime.now().astimezone()
    assert timedelta(seconds=50) < left < timedelta(seconds=61)


def test_only_one_host_at_a_time_reserves(host: Callable[[str], FleetUsage]) -> None:
    """The lock of the ledger keeps others waiting."""
    import threading

    one, two = host("one"), host("two")
    order: list[str] = []

    def second() -> None:
        with two.locked():
            order.append("two")

    with one.locked():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        order.append("one")
    thread.join()
    assert order == ["one", "two"]


def test_calls_written_at_once_by_many_are_all_read(host: Callable[[str], FleetUsage]) -> None:
    """A reader that is faster than a writer misses none: rows are numbered as they are seen."""
    from concurrent.futures import ThreadPoolExecutor

    reader, cursor = host("reader"), UsageCursor(_MIDNIGHT)
    seen: list[str] = []

    def write(number: int) -> None:
        host(f"h{number}").append(_usage(correlation=f"c{number}"))

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, number) for number in range(40)]
        while not all(each.done() for each in writing):
            seen += [usage.correlation for usage in reader.fresh(cursor)]
    seen += [usage.correlation for usage in reader.fresh(cursor)]
    assert sorted(seen) == sorted(f"c{number}" for number in range(40))
