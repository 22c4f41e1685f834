"""Tokens by run and by task of a channel today."""

from __future__ import annotations

from datetime import timedelta

from pipimem.notes.operations import Tokens
from pipimem.notes.usage import Usage
from pipimem.runtime.spending import Spending
from pipimem.sidecar.contracts import Call

from tests.runtime.building import MORNING


def usage(correlation: str, task: str = "tidy", channel: str = "room", day: int = 0) -> Usage:
    time = (MORNING + timedelta(days=day)).isoformat(timespec="seconds")
    return Usage(time, channel, task, "m", 90, 10, 0, None, 1.0, "ok", correlation)


def test_a_run_counts_its_own_attempts_and_its_tasks_day() -> None:
    """Other runs, tasks and channels are others; what the ledger holds from earlier today counts."""
    earlier = [usage("before"), usage("x", task="fold"), usage("y", channel="hall")]
    spending = Spending(lambda since: earlier)
    for _ in range(2):
        spending.note(one := usage("run1"))
        earlier.append(one)
    assert spending.of("tidy", Call("room", "run1", 1), MORNING) == Tokens(200, 300)
    spending.note(usage("run2"))
    assert spending.of("tidy", Call("room", "run2", 1), MORNING) == Tokens(100, 400)


def test_a_new_day_begins_at_nothing() -> None:
    """The ledger is asked from midnight on."""
    asked = []
    spending = Spending(lambda since: asked.append(since) or [])  # type: ignore[func-returns-value]
    spending.note(usage("run1"))
    spending.of("tidy", Call("room", "run1", 1), MORNING)
    spending.note(usage("run2", day=1))
    assert spending.of("tidy", Call("room", "run2", 1), MORNING + timedelta(days=1)) == Tokens(100, 0)
    assert [each.isoformat() for each in asked] == ["2026-03-02T00:00:00+08:00", "2026-03-03T00:00:00+08:00"]


def test_a_thought_without_cost_has_no_tokens() -> None:
    """The rules are free: the journal says nothing of tokens."""
    assert Spending(lambda since: []).of("tidy", Call("room", "run1", 1), MORNING) is None
