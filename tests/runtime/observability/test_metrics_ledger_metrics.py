"""Calls, tokens, budgets and breakers come from the ledger, each line once."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.usage import Usage
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.metric_names import Histogram, Samples
from pipimem.runtime.observability.metrics import LedgerMetrics
from pipimem.settings import BudgetSettings, Limit
from pipimem.store.workspace import WorkspaceStore

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")


class Ledger:
    """A workspace's ledger, and its metrics since noon."""

    def __init__(self, root: Path, *, channel_ids: bool = False) -> None:
        WorkspaceStore.init(root)
        self.store = WorkspaceStore.open(root)
        self.metrics_options = {"channel_ids": channel_ids}
        self.metrics: LedgerMetrics | None = None

    def call(self, after: timedelta, **known: object) -> None:
        usage = {
            "channel": "room", "task": "consolidate", "model": "openai/m", "tokens_in": 100,
            "tokens_out": 10, "tokens_cached": 40, "cost": 0.25, "latency": 3.0, "outcome": "ok",
            "correlation": "c1",
        } | known  # fmt: skip
        time = (NOON + after).isoformat(timespec="seconds")
        self.store.usage_store.append(Usage(time=time, **usage))  # type: ignore[arg-type]

    def begin(self) -> None:
        limits = BudgetSettings(tokens_per_day=Limit(1_000), channel_tokens_per_day=Limit(500))
        self.metrics = LedgerMetrics(self.store, limits, NOON, **self.metrics_options)

    def read(self, after: timedelta = timedelta(minutes=5)) -> dict[object, Samples]:
        assert self.metrics is not None
        return dict(self.metrics.families(NOON + after))  # type: ignore[arg-type]


MINUTE = timedelta(minutes=1)


def test_counters_begin_with_the_process_and_budgets_with_the_day(tmp_path: Path) -> None:
    """What was used in the morning counts for the budget alone."""
    ledger = Ledger(tmp_path)
    ledger.call(-timedelta(hours=3))
    ledger.begin()
    ledger.call(MINUTE)
    ledger.call(MINUTE, outcome="timeout", tokens_in=0, tokens_out=0, cost=None, estimated_in=90)
    for _ in range(2):  # a second scrape counts nothing twice
        found = ledger.read()
        assert found[names.CALLS] == {
            ("openai/m", "consolidate", "ok"): 1,
            ("openai/m", "consolidate", "timeout"): 1,
        }
        assert found[names.TOKENS] == {
            ("openai/m", "input"): 190,
            ("openai/m", "output"): 10,
            ("openai/m", "cached"): 80,
        }
        assert found[names.COST] == {("openai/m",): 0.25}
        assert found[names.UNPRICED] == {("openai/m",): 1}
        assert found[names.BUDGET] == {("tokens",): 0.31, ("dollars",): 0.05}
        took = found[names.CALL_DURATION]["openai/m",]
        assert isinstance(took, Histogram)
        assert (took.total, took.sum) == (2, 6.0)


def test_the_next_day_has_a_budget_of_its_own(tmp_path: Path) -> None:
    """Counters go on, budgets begin anew."""
    ledger = Ledger(tmp_path)
    ledger.begin()
    ledger.call(MINUTE)
    assert ledger.read()[names.BUDGET]["tokens",] == 0.11
    found = ledger.read(timedelta(days=1))
    assert found[names.BUDGET]["tokens",] == 0
    assert found[names.CALLS] == {("openai/m", "consolidate", "ok"): 1}


def test_a_breaker_is_open_while_the_model_is_left_alone(tmp_path: Path) -> None:
    """Five failures in a row open it for a minute."""
    ledger = Ledger(tmp_path)
    ledger.begin()
    for _ in range(5):
        ledger.call(5 * MINUTE, outcome="error")
    assert ledger.read(5.5 * MINUTE)[names.BREAKER] == {("openai/m",): 1}
    assert ledger.read(10 * MINUTE)[names.BREAKER] == {("openai/m",): 0}


def test_another_ledger_is_read_anew(tmp_path: Path) -> None:
    """After a backup was put back no call counts twice, and none is lost."""
    ledger = Ledger(tmp_path)
    ledger.begin()
    ledger.call(MINUTE)
    file = tmp_path / ".pipimem" / "state.db"
    backup = file.read_bytes()
    ledger.call(MINUTE)
    assert ledger.read()[names.CALLS]["openai/m", "consolidate", "ok"] == 2
    file.write_bytes(backup)
    assert ledger.read()[names.CALLS]["openai/m", "consolidate", "ok"] == 1
    ledger.call(2 * MINUTE)
    assert ledger.read()[names.CALLS]["openai/m", "consolidate", "ok"] == 2


def test_channels_are_named_only_where_they_may_be(tmp_path: Path) -> None:
    """By default no label has the id of a conversation."""
    for folder, channel_ids, expected in (("a", False, {}), ("b", True, {("room",): 0.22})):
        ledger = Ledger(tmp_path / folder, channel_ids=channel_ids)
        ledger.begin()
        ledger.call(MINUTE)
        found = ledger.read()
        assert found[names.CHANNEL_BUDGET] == expected
        assert ("room" in repr(found)) is channel_ids
