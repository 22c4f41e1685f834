"""Calls of models by all processes of a workspace, budgets and breakers, from the usage ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from math import inf

from pipimem.llm.usage_state import Budget, UsageState, ended_at, midnight
from pipimem.notes.usage import Usage
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.exposition import Histogram, Labels, Metric, Samples
from pipimem.settings import BudgetSettings
from pipimem.store.workspace import WorkspaceStore

# Seconds.
_BOUNDS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)


class LedgerMetrics:
    """The ledger's lines since `began`, each read once; for one thread at a time."""

    def __init__(
        self,
        workspace: WorkspaceStore,
        settings: BudgetSettings,
        began: datetime,
        *,
        channel_ids: bool = False,
    ) -> None:
        self._workspace, self._settings, self._began = workspace, settings, began
        self._channel_ids = channel_ids
        self._read_anew(began)

    def _read_anew(self, now: datetime) -> None:
        # Today's budgets count what was used before this process began; counters begin with it.
        self._tail = self._workspace.usage_store.tail(midnight(self._began))
        self._state = UsageState(self._settings, now.date())
        self._calls: Counter[Labels] = Counter()
        self._tokens: Counter[Labels] = Counter()
        self._unpriced: Counter[Labels] = Counter()
        self._dollars: dict[Labels, float] = {}
        self._durations: dict[Labels, Histogram] = {}

    def families(self, now: datetime) -> list[tuple[Metric, Samples]]:
        """The metrics as they stand. Raises `StoreError` where the ledger cannot be read."""
        if self._tail.rewritten:  # by a person, a backup or a forgetting
            self._read_anew(now)
        self._state.start_day(now)
        for usage in self._tail.fresh():
            self._state.count(usage, now)
            if ended_at(usage, now) >= self._began.replace(microsecond=0):
                self._count(usage)
        held = tuple(self._workspace.usage_store.held().values())
        budget, _ = self._state.budgets("", held)
        return [
            (names.CALLS, self._calls),
            (names.CALL_DURATION, self._durations),
            (names.TOKENS, self._tokens),
            (names.COST, self._dollars),
            (names.UNPRICED, self._unpriced),
            (names.IN_PROGRESS, {(): len(held)}),
            (names.BUDGET, _ratios(budget)),
            (names.BREAKER, self._breakers(now)),
            (names.CHANNEL_BUDGET, self._channel_ratios()),
        ]

    def _count(self, usage: Usage) -> None:
        model = usage.model
        self._calls[model, usage.task, usage.outcome] += 1
        self._tokens[model, "input"] += usage.tokens_in + usage.estimated_in
        self._tokens[model, "output"] += usage.tokens_out + usage.estimated_out
        self._tokens[model, "cached"] += usage.tokens_cached
        self._dollars[model,] = self._dollars.get((model,), 0.0) + usage.dollars
        self._unpriced[model,] += usage.unpriced
        if (model,) not in self._durations:
            self._durations[model,] = Histogram(_BOUNDS)
        self._durations[model,].observe(usage.latency)

    def _breakers(self, now: datetime) -> Samples:
        return {
            (circuit,): float(state.open_at(now)) for circuit, state in self._state.circuits.items()
        }

    def _channel_ratios(self) -> Samples:
        if not self._channel_ids:
            return {}
        channels: Iterable[str] = filter(None, self._state.channels)
        return {(name,): self._state.budgets(name)[1].share for name in channels}


def _ratios(budget: Budget) -> Samples:
    """The shares of tokens and dollars that are used, where there is a limit."""
    spent, limit = budget.spent, budget.limit
    pairs = {"tokens": (spent.tokens, limit.tokens), "dollars": (spent.dollars, limit.dollars)}
    return {
        (unit,): used / most if most else 1.0 for unit, (used, most) in pairs.items() if most != inf
    }
