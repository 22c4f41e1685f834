"""Leases and due times on hosts whose wall clocks are ten minutes off, or jump."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pipimem.errors import DatabaseUnavailable, LockLost, LockTimeout
from pipimem.state import lease as lease_module
from pipimem.state.postgres import FleetDatabase
from pipimem.store.channel import ChannelStore
from pipimem.store.fleet.fleet_lock import FleetLock
from pipimem.store.fleet.visits import Visits
from pipimem.store.workspace import WorkspaceStore

SKEWS = pytest.mark.parametrize("skew", [600.0, -600.0], ids=["ahead", "behind"])
_real = time.time


def set_clock(monkeypatch: pytest.MonkeyPatch, skew: float) -> None:
    """From now on this process's wall clock is so many seconds off."""
    monkeypatch.setattr(time, "time", lambda: _real() + skew)
    monkeypatch.setattr(time, "time_ns", lambda: int((_real() + skew) * 1e9))


def unavailable(*_: object) -> None:
    raise DatabaseUnavailable("gone")


def lock_of(root: Path) -> FleetLock:
    store = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
    lock = store.channel_folder.lock
    assert isinstance(lock, FleetLock)
    return lock


@SKEWS
def test_a_wall_clock_that_jumps_gives_no_lease_away(
    root: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """Its holder goes on, others go on waiting; with the lease over by the database it is refused,
    however long the wall clock says that it lasts."""
    one, two = lock_of(root), lock_of(root)
    with one.held():
        set_clock(monkeypatch, skew)
        one.check()
        with pytest.raises(LockTimeout), two.held(timeout=0.3):
            raise AssertionError
        one.check()
    with two.held(timeout=0.5):
        two.check()


@SKEWS
def test_a_lease_that_is_over_is_over_under_any_wall_clock(
    root: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """Nothing renews it: the database says so, and where it does not answer the holder's clock."""
    one = lock_of(root)
    monkeypatch.setattr(lease_module.Leases, "_renewed", lambda *_: False)
    with one.held():
        set_clock(monkeypatch, skew)
        time.sleep(1.1)
        with pytest.raises(LockLost):
            one.check()
        monkeypatch.setattr(FleetDatabase, "rows", unavailable)
        with pytest.raises(LockLost):
            one.check()


@SKEWS
def test_by_the_wall_clock_leases_would_fail(
    root: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """What the tests before are worth: ahead the lease ends at once, behind it does not end."""
    monkeypatch.setattr(lease_module, "awake_seconds", lambda: time.time())
    one = lock_of(root)
    with one.held():
        monkeypatch.setattr(FleetDatabase, "rows", unavailable)
        set_clock(monkeypatch, skew)
        if skew > 0:
            with pytest.raises(LockLost):
                one.check()
        else:
            time.sleep(1.1)
            one.check()


@SKEWS
def test_a_channel_is_due_by_the_clock_of_the_database(
    root: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """A host whose clock is off says in how many seconds; another one is given it then, not before."""
    fleet = WorkspaceStore.open(root).fleet
    assert fleet is not None
    visits = Visits(fleet.database, fleet.name)
    set_clock(monkeypatch, skew)
    visits.put_off(["team"], 0.5)
    visits.set("other", 0.5)
    assert visits.claim(9) == []
    time.sleep(0.6)
    assert sorted(visits.claim(9)) == ["other", "team"]
