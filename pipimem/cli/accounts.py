"""The day's account as `status` and `doctor` tell it: budgets, models that are left alone, calls without a price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf

from pipimem.cli.printing import fields
from pipimem.settings import BudgetSettings
from pipimem.sidecar import breaker
from pipimem.sidecar.account import Account, midnight
from pipimem.sidecar.purse import WARN_AT, Budget
from pipimem.store.workspace import WorkspaceStore


@dataclass(frozen=True, slots=True)
class Today:
    """What today has used: the workspace's budget, those of channels that used something, calls without a price.

    `resting` says by model why it is left alone.
    """

    workspace: Budget
    channels: tuple[Budget, ...]
    resting: Mapping[str, str]
    under_way: int
    unpriced: int
    damaged: int


def today(store: WorkspaceStore, settings: BudgetSettings, now: datetime) -> Today:
    """The account as every process on the workspace counts it; requests under way included."""
    lines = list(store.usage_lines(midnight(now)))
    usages = [usage for usage in lines if usage is not None]
    account, held = Account.opened(settings, now, usages), tuple(store.books.held().values())
    names = sorted({*account.channels, *(hold.channel for hold in held)})
    whole, _ = account.budgets("", held)
    return Today(
        workspace=whole,
        channels=tuple(account.budgets(name, held)[1] for name in names),
        resting={
            circuit: breaker.told(circuit, standing, now)
            for circuit, standing in sorted(account.standings.items())
            if standing.tripped
        },
        under_way=len(held),
        unpriced=sum(usage.unpriced for usage in usages),
        damaged=len(lines) - len(usages),
    )


def told(today: Today) -> list[str]:
    """The account for eyes: the workspace, and whatever an operator should know."""
    lines = [f"today {_line(today.workspace)}"]
    lines += [_line(budget) for budget in today.channels if budget.share >= WARN_AT]
    lines += today.resting.values()
    if today.unpriced:
        calls = f"{today.unpriced} call{'s' if today.unpriced > 1 else ''}"
        lines.append(f"{calls} today without a known price: held by the token budgets alone")
    if today.damaged:
        lines.append(f"{today.damaged} damaged lines in this month's usage ledger are not counted")
    return lines


def account_json(today: Today) -> dict[str, object]:
    """The account for scripts; a limit is null where there is none."""
    return {
        "workspace": _budget_json(today.workspace),
        "channels": [_budget_json(budget) for budget in today.channels],
        **fields(today, "resting", "under_way", "unpriced", "damaged"),
    }


def _line(budget: Budget) -> str:
    if budget.share >= 1:
        return f"{budget.told()} (used up: the embedded rules think until midnight)"
    return (
        f"{budget.told()} ({budget.share:.0%}{', above 80 %' if budget.share >= WARN_AT else ''})"
    )


def _budget_json(budget: Budget) -> dict[str, object]:
    return {
        "whose": budget.whose,
        "tokens": int(budget.spent.tokens),
        "tokens_per_day": None if budget.limit.tokens == inf else int(budget.limit.tokens),
        "cost": budget.spent.dollars,
        "cost_per_day": None if budget.limit.dollars == inf else budget.limit.dollars,
        "share": round(budget.share, 4),
    }
