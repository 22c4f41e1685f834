"""`pipimem usage`: what models were asked, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, note, records, table
from pipimem.cli.times import past_time
from pipimem.notes.usage import Usage


@dataclass(frozen=True, slots=True)
class Sum:
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


@click.command("usage")
@click.option(
    "--since",
    type=past_time,
    metavar="TIME",
    help="Only calls from this date on, as in 2026-03-02 or yesterday.",
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
    if len(usages) < len(lines):
        note(_passed_over(len(lines) - len(usages)))
    sums = _sums(usages, by)
    if as_json:
        records({by: name, **asdict(total)} for name, total in sums.items())
        return
    if sums:
        sums["total"] = summed(usages)
    head = (by, "calls", "failed", "tokens in", "out", "cached", "estimated", "cost")
    days = f" since {since:%Y-%m-%d}" if since else ""
    table(head, map(_row, sums, sums.values()), empty=f"no model was called{days}")


def _passed_over(damaged: int) -> str:
    them = "it" if damaged == 1 else "them"
    return f"{counted(damaged, 'damaged line')} of the ledger passed over: the sums lack {them}"


def _sums(usages: Iterable[Usage], by: str) -> dict[str, Sum]:
    """The calls added up by a field of theirs, or by day, in the order of its values."""
    groups: dict[str, list[Usage]] = {}
    for usage in usages:
        name = usage.time[:10] if by == "day" else getattr(usage, by)
        groups.setdefault(name, []).append(usage)
    return {name: summed(groups[name]) for name in sorted(groups)}


def summed(usages: Sequence[Usage]) -> Sum:
    """The calls added up."""

    def all_of(name: str) -> Any:  # noqa: ANN401 - tokens are whole numbers, costs are not
        return sum(getattr(usage, name) or 0 for usage in usages)

    known, guessed = float(all_of("cost")), float(all_of("estimated_cost"))
    unpriced = all_of("unpriced")
    return Sum(
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


def cost_text(total: Sum) -> str:
    """The cost for eyes: what is known, what is guessed, and how many calls have no known price."""
    known, guessed, unpriced = total.known_cost, total.estimated_cost, total.unpriced
    if not known and not guessed:
        return "unknown" if unpriced else "$0"
    parts = [f"${known:.4f}"]
    if guessed:
        parts.append(f"about ${guessed:.4f}")
    if unpriced:
        parts.append(f"{unpriced} unknown")
    return " + ".join(parts)


def _row(name: str, total: Sum) -> tuple[object, ...]:
    return (
        name,
        total.calls,
        total.failed,
        total.tokens_in,
        total.tokens_out,
        total.tokens_cached,
        total.estimated_tokens,
        cost_text(total),
    )
