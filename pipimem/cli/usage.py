"""`pipimem usage`: what models were asked, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.cli.times import Time
from pipimem.notes.usage import Usage


@dataclass(frozen=True, slots=True)
class Sum:
    """Calls added up: `known_cost` in dollars, `unpriced` calls without a price, `estimated_*` where a bill was left out.

    `cost` is what all of them cost by their bills, `None` as soon as one has no known price or no bill.
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


@click.command("usage")
@click.option(
    "--since", type=Time(), help="Only calls from this date on, as in 2026-03-02 or yesterday."
)
@click.option(
    "--by",
    type=click.Choice(["task", "channel", "model", "day"]),
    default="task",
    show_default=True,
    help="One line for each.",
)
@as_json
@chosen
def command(chosen: Chosen, since: datetime | None, by: str, as_json: bool) -> None:
    """Add up what models were asked and what it cost."""
    lines = list(chosen.store().usage_lines(since))
    usages = [usage for usage in lines if usage is not None]
    if damaged := len(lines) - len(usages):
        note(
            f"{damaged} damaged line{'s' if damaged > 1 else ''} of the ledger passed over: the sums lack {'them' if damaged > 1 else 'it'}"
        )
    groups: dict[str, list[Usage]] = {}
    for usage in usages:
        name = usage.time[:10] if by == "day" else getattr(usage, by)
        groups.setdefault(name, []).append(usage)
    sums = {name: summed(groups[name]) for name in sorted(groups)}
    if as_json:
        for name, total in sums.items():
            record({by: name, **asdict(total)})
        return
    rows = [_row(name, total) for name, total in sums.items()]
    table(
        (by, "calls", "failed", "tokens in", "out", "cached", "estimated", "cost"),
        [*rows, _row("total", summed(usages))] if rows else (),
        empty="no model was called" + (f" since {since:%Y-%m-%d}" if since else ""),
    )


def summed(usages: Sequence[Usage]) -> Sum:
    """The calls added up."""
    known = sum((usage.cost or 0.0 for usage in usages), 0.0)
    guessed = sum((usage.estimated_cost or 0.0 for usage in usages), 0.0)
    unpriced = sum(usage.unpriced for usage in usages)
    return Sum(
        calls=len(usages),
        failed=sum(usage.outcome != "ok" for usage in usages),
        tokens_in=sum(usage.tokens_in for usage in usages),
        tokens_out=sum(usage.tokens_out for usage in usages),
        tokens_cached=sum(usage.tokens_cached for usage in usages),
        cost=None if unpriced or guessed else known,
        known_cost=known,
        unpriced=unpriced,
        estimated_tokens=sum(usage.estimated_in + usage.estimated_out for usage in usages),
        estimated_cost=guessed,
        seconds=round(sum((usage.latency for usage in usages), 0.0), 3),
    )


def cost_told(total: Sum) -> str:
    """The cost for eyes: what is known, what is guessed, and how many calls have no known price."""
    known, guessed, unpriced = total.known_cost, total.estimated_cost, total.unpriced
    if unpriced and not known and not guessed:
        return "unknown"
    told = f"${known:.4f}" if known or guessed else "$0"
    told += f" + about ${guessed:.4f}" if guessed else ""
    return told + (f" + {unpriced} unknown" if unpriced else "")


def _row(name: str, total: Sum) -> tuple[object, ...]:
    return (
        name,
        total.calls,
        total.failed,
        total.tokens_in,
        total.tokens_out,
        total.tokens_cached,
        total.estimated_tokens,
        cost_told(total),
    )
