"""`pipimem usage`: what models were asked, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import click

from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.cli.times import Time
from pipimem.notes.usage import Usage

_GROUPS = ("task", "channel", "model", "day")


@dataclass(frozen=True, slots=True)
class Sum:
    """The calls of one group; `priced` is the sum of known costs in dollars, `unpriced` counts calls without a price.

    `tokens_*` and `priced` are as providers reported; `estimated` and `guessed` (dollars) are what they left out.
    """

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    priced: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    estimated: int = 0
    guessed: float = 0.0

    @property
    def cost(self) -> float | None:
        """What all of them cost by their bills, `None` as soon as one has no known price or no bill."""
        return None if self.unpriced or self.guessed else self.priced

    def and_(self, usage: Usage) -> Sum:
        """With one more call."""
        return Sum(
            self.calls + 1,
            self.failed + (usage.outcome != "ok"),
            self.tokens_in + usage.tokens_in,
            self.tokens_out + usage.tokens_out,
            self.tokens_cached + usage.tokens_cached,
            self.priced + (usage.cost or 0.0),
            self.unpriced + usage.unpriced,
            self.seconds + usage.latency,
            self.estimated + usage.estimated_in + usage.estimated_out,
            self.guessed + (usage.estimated_cost or 0.0),
        )


@click.command("usage")
@click.option("--since", type=Time(), help="Only calls from this date on, as in 2026-03-02 or yesterday.")
@click.option("--by", type=click.Choice(_GROUPS), default="task", show_default=True, help="One line for each.")
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
    groups: dict[str, Sum] = {}
    for usage in usages:
        name = key(usage, by)
        groups[name] = groups.get(name, Sum()).and_(usage)
    rows = sorted(groups.items())
    if as_json:
        for name, total in rows:
            record({by: name, **sum_json(total)})
        return
    if not rows:
        note("no model was called" + (f" since {since:%Y-%m-%d}" if since else ""))
        return
    table(
        (by, "calls", "failed", "tokens in", "out", "cached", "estimated", "cost"),
        [*(_row(name, total) for name, total in rows), _row("total", summed(usages))],
    )


def summed(usages: Iterable[Usage]) -> Sum:
    """The calls added up."""
    total = Sum()
    for usage in usages:
        total = total.and_(usage)
    return total


def key(usage: Usage, by: str) -> str:
    """The group a call belongs to."""
    groups = {"channel": usage.channel, "model": usage.model, "day": usage.time[:10], "task": usage.task}
    return groups[by]


def sum_json(total: Sum) -> dict[str, object]:
    """A sum for scripts; the cost is null as soon as one call has no known price."""
    return {
        "calls": total.calls,
        "failed": total.failed,
        "tokens_in": total.tokens_in,
        "tokens_out": total.tokens_out,
        "tokens_cached": total.tokens_cached,
        "cost": total.cost,
        "known_cost": total.priced,
        "unpriced": total.unpriced,
        "estimated_tokens": total.estimated,
        "estimated_cost": total.guessed,
        "seconds": round(total.seconds, 3),
    }


def cost_told(total: Sum) -> str:
    """The cost for eyes: what is known, what is guessed, and how many calls have no known price."""
    if total.unpriced and not total.priced and not total.guessed:
        return "unknown"
    known = f"${total.priced:.4f}" if total.priced or total.guessed else "$0"
    guessed = f" + about ${total.guessed:.4f}" if total.guessed else ""
    return known + guessed + (f" + {total.unpriced} unknown" if total.unpriced else "")


def _row(name: str, total: Sum) -> tuple[str, ...]:
    numbers = (total.calls, total.failed, total.tokens_in, total.tokens_out, total.tokens_cached, total.estimated)
    return (name, *map(str, numbers), cost_told(total))
