"""Calls and reservations of several hosts count as one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from msgspec import structs
from pipimem.errors import DatabaseUnavailable
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.settings import FleetSettings, Settings
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace import WorkspaceStore

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
def host(root: Path, settings: FleetSettings) -> Callable[[], UsageStore]:
    """Makes the usage store of a host; all of them share a workspace and a database."""
    return lambda: WorkspaceStore.open(root, Settings(fleet=settings)).usage_store


def test_a_call_of_one_host_is_read_once_by_each(host: Callable[[], UsageStore]) -> None:
    """Every field comes through the database."""
    one, two = host(), host()
    cursor = UsageCursor(_MIDNIGHT)
    assert two.fresh(cursor) == []
    one.append(_usage(reason="timed out", outcome="refused"))
    assert two.fresh(cursor) == [_usage(reason="timed out", outcome="refused")]
    assert two.fresh(cursor) == []
    assert one.usages(_MIDNIGHT) == two.usages(_MIDNIGHT)
    assert one.usages(_MIDNIGHT, "another") == []


def test_without_the_database_nothing_is_counted(root: Path) -> None:
    """Then no model is asked."""
    nowhere = Settings(fleet=FleetSettings("postgresql:///x?host=/nowhere"))
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        WorkspaceStore.open(root, nowhere).usage_store.append(_usage())


def test_a_reservation_of_one_host_is_seen_and_released_by_another(
    host: Callable[[], UsageStore],
) -> None:
    """Released once: who comes second is told that it was gone."""
    one, two = host(), host()
    with one.locked() as ledger:
        name = ledger.place(_hold())
    (seen,) = two.held().values()
    assert seen.tokens == 30
    assert seen.cost == 0.5
    with two.locked() as ledger:
        assert ledger.release(name) is True
    with one.locked() as ledger:
        assert ledger.release(name) is False
    assert two.held() == {}


def test_only_one_host_at_a_time_reserves(host: Callable[[], UsageStore]) -> None:
    """A transaction keeps others waiting."""
    one, two = host(), host()
    order: list[str] = []

    def second() -> None:
        with two.locked():
            order.append("two")

    with one.locked():
        thread = Thread(target=second)
        thread.start()
        thread.join(0.3)
        order.append("one")
    thread.join()
    assert order == ["one", "two"]


def test_calls_written_at_once_by_many_are_all_read(host: Callable[[], UsageStore]) -> None:
    """A reader that is faster than a writer misses none: rows are numbered as they are seen."""
    reader, cursor = host(), UsageCursor(_MIDNIGHT)
    seen: list[str] = []

    def write(number: int) -> None:
        host().append(_usage(correlation=f"c{number}"))

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, number) for number in range(40)]
        while not all(each.done() for each in writing):
            seen += [usage.correlation for usage in reader.fresh(cursor) or ()]
    assert all(each.exception() is None for each in writing)
    seen += [usage.correlation for usage in reader.fresh(cursor) or ()]
    assert sorted(seen) == sorted(f"c{number}" for number in range(40))


def test_what_one_host_counted_goes_on_in_a_fleet(root: Path, settings: FleetSettings) -> None:
    """The database takes it over with the first call, once."""
    alone = WorkspaceStore.open(root, Settings())
    alone.usage_store.append(_usage(correlation="before"))
    shared = WorkspaceStore.open(root, Settings(fleet=settings))
    for name in ("c1", "c2"):
        shared.usage_store.append(_usage(correlation=name))
    found = [usage.correlation for usage in shared.usages()]
    assert found == ["before", "c1", "c2"]
    assert not (root / ".pipimem" / "state.db").exists()
