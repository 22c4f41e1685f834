"""Calls of models added up: by task, channel, model or day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pipimem.notes.usage import Usage

By = Literal["task", "channel", "model", "day"]
WAYS = get_args(By)


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Calls added up, costs in dollars.

    `unpriced` calls have no known price; `estimated_*` stand for bills that were left out. `cost`
    is what all of them cost by their bills, `None` as soon as one has no known price or no bill.
    """

    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    known_cost: float
    unpriced: int
    estimated_tokens: int
    estimated_cost: float
    seconds: float


def usage_sums(usages: Iterable[Usage], by: str) -> dict[str, UsageSum]:
    """The calls added up by a field of theirs, or by day, in the order of its values."""
    groups: dict[str, list[Usage]] = {}
    for usage in usages:
        name = usage.time[:10] if by == "day" else getattr(usage, by)
        groups.setdefault(name, []).append(usage)
    return {name: usage_sum(groups[name]) for name in sorted(groups)}


def usage_sum(usages: Sequence[Usage]) -> UsageSum:
    """The calls added up."""

    def all_of(name: str) -> Any:  # noqa: ANN401 - tokens are whole numbers, costs are not
        return sum(getattr(usage, name) or 0 for usage in usages)

    known, guessed = float(all_of("cost")), float(all_of("estimated_cost"))
    unpriced = all_of("unpriced")
    return UsageSum(
        calls=len(usages),
        failed=sum(usage.outcome != "ok" for usage in usages),
        tokens_in=all_of("tokens_in"),
        tokens_out=all_of("tokens_out"),
        tokens_cached=all_of("tokens_cached"),
        cost=None if unpriced or guessed else known,
        known_cost=known,
        unpriced=unpriced,
        estimated_tokens=all_of("estimated_in") + all_of("estimated_out"),
        estimated_cost=guessed,
        seconds=round(all_of("latency"), 3),
    )
