"""The usage ledger and the reservations, as any process on a workspace sees them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from pipimem.errors import StoreError
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.state.usage import OpenLedger
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState

MIDNIGHT = datetime.fromisoformat("2026-03-02T00:00:00+08:00")
CALL = Usage(
    "2026-03-02T09:00:00+08:00", "团队", "refresh", "openai/m", 10, 5, 2, 0.25, 1.5, "ok", "c1"
)
HOLD = Reservation(
    "2026-03-02T09:00:00+08:00", "2026-03-02T09:02:00+08:00", "团队", "refresh", "openai/m", 900, 4000, None, "c1", "ab"
)  # fmt: skip


def at(hours: float, tokens: int = 1) -> Usage:
    time = (MIDNIGHT + timedelta(hours=hours)).isoformat(timespec="seconds")
    return replace(CALL, time=time, tokens_in=tokens)


@pytest.fixture
def ledger(tmp_path: Path) -> UsageStore:
    return UsageStore(WorkspaceState(tmp_path / ".pipimem"))


def place(ledger: UsageStore) -> str:
    with ledger.locked() as opened:
        return opened.place(HOLD)


def test_every_field_comes_back(ledger: UsageStore) -> None:
    """What was estimated stays apart from what the provider reported."""
    calls = [
        CALL,
        replace(CALL, cost=None, estimated_in=7, estimated_out=8, estimated_cost=0.5, prompt="ab"),
        replace(CALL, channel="r\udc00m\0", model="m\udcff", reason="half \ud83d"),
    ]
    for call in calls:
        ledger.append(call)
    assert ledger.usages() == calls


def test_calls_are_found_by_time_and_channel(ledger: UsageStore) -> None:
    """In the order in which they ended, whenever they were written."""
    for call in (at(3), at(-1), replace(at(1), channel="hall"), at(2)):
        ledger.append(call)
    assert ledger.usages() == [at(-1), replace(at(1), channel="hall"), at(2), at(3)]
    assert ledger.usages(MIDNIGHT, "团队") == [at(2), at(3)]


def test_a_cursor_gives_the_calls_of_today_once(ledger: UsageStore) -> None:
    """Whichever process wrote them, and in the order in which they were written."""
    cursor, other = UsageCursor(MIDNIGHT), UsageStore(ledger.state)
    assert ledger.fresh(cursor) == []
    for hours in (-3, -0.5, 9, 0):
        other.append(at(hours))
    assert ledger.fresh(cursor) == [at(9), at(0)]
    assert ledger.fresh(cursor) == []
    other.append(at(10))
    assert ledger.fresh(cursor) == [at(10)]


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_a_cursor_tells_that_the_database_is_another_one(ledger: UsageStore, left: int) -> None:
    """Deleted, shorter, or as long: who went on from a number alone would pass over calls."""
    cursor = UsageCursor(MIDNIGHT)
    for hours in (1, 2):
        ledger.append(at(hours))
    ledger.fresh(cursor)
    ledger.state.database.path.unlink()
    for hours in range(left):
        ledger.append(replace(at(hours), correlation="other"))
    assert ledger.fresh(cursor) is None


def test_a_reservation_is_seen_until_it_is_released(ledger: UsageStore) -> None:
    """By every process; released twice, the second release reports that it was gone."""
    other = UsageStore(ledger.state)
    assert other.held() == {}
    first, second = place(ledger), place(ledger)
    assert other.held() == {first: HOLD, second: HOLD}
    with other.locked() as opened:
        assert opened.release(first)
        assert not opened.release(first)
    assert ledger.held() == {second: HOLD}


def test_a_call_takes_the_place_of_its_reservation(ledger: UsageStore) -> None:
    """In one transaction: a process that is killed leaves either of them, never both or none."""
    name = place(ledger)
    ledger.record(name, CALL)
    assert (ledger.held(), ledger.usages()) == ({}, [CALL])
    ledger.record(place(ledger), None)
    assert (ledger.held(), ledger.usages()) == ({}, [CALL])


def test_a_call_is_kept_where_the_database_was_deleted_meanwhile(
    ledger: UsageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new one takes it."""
    name, append = place(ledger), OpenLedger.append
    deleted: list[bool] = []

    def append_to_deleted(opened: OpenLedger, usage: Usage) -> None:
        if not deleted:
            ledger.state.database.path.unlink()
            deleted.append(True)
        append(opened, usage)

    monkeypatch.setattr(OpenLedger, "append", append_to_deleted)
    ledger.record(name, CALL)
    assert ledger.usages() == [CALL]


def test_a_call_is_kept_where_the_database_is_damaged(ledger: UsageStore) -> None:
    """What opens and cannot be written is set aside."""
    for _ in range(200):
        ledger.append(CALL)
    path = ledger.state.database.path
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    ledger.record("none", CALL)
    assert ledger.usages() == [CALL]
    assert path.with_name("state.db.damaged").read_bytes() == data


def bind(path: Path) -> None:
    """Make a socket; its path may have 108 bytes."""
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


@pytest.mark.skipif(os.name != "posix", reason="no pipes with names")
@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir, bind])
def test_what_only_has_the_name_of_the_database_is_named(
    ledger: UsageStore, put: Callable[[Path], None]
) -> None:
    """Nobody waits for it, and no model is asked whose call could not be written down."""
    path = ledger.state.database.path
    path.parent.mkdir()
    put(path)
    with pytest.raises(StoreError, match=r"state\.db"):
        ledger.append(CALL)
