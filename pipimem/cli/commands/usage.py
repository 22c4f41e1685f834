"""`pipimem usage`: what models were asked, and what it cost."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, note, records, table
from pipimem.cli.times import past_time
from pipimem.runtime.usage_sums import WAYS, UsageSum, usage_sum, usage_sums


@click.command("usage")
@click.option(
    "--since",
    type=past_time,
    metavar="TIME",
    help="Only calls from this date on, as in 2026-03-02 or yesterday.",
)
@click.option(
    "--by",
    type=click.Choice(WAYS),
    default="task",
    show_default=True,
    help="One line for each.",
)
@as_json
@chosen
def command(chosen: Chosen, since: datetime | None, by: str, as_json: bool) -> None:
    """Add up what models were asked and what it cost.

    Without a call `--json` gives one line of zeros, `total`.
    """
    lines = list(chosen.store().usage_lines(since))
    usages = [usage for usage in lines if usage is not None]
    if len(usages) < len(lines):
        note(_passed_over(len(lines) - len(usages)))
    sums = usage_sums(usages, by)
    total = {"total": usage_sum(usages)}
    if as_json:
        records({by: name, **asdict(one)} for name, one in (sums or total).items())
        return
    if sums:
        sums |= total
    head = (by, "calls", "failed", "tokens in", "out", "cached", "estimated", "cost")
    days = f" since {since:%Y-%m-%d}" if since else ""
    table(head, map(_row, sums, sums.values()), empty=f"no model was called{days}")


def _passed_over(damaged: int) -> str:
    them = "it" if damaged == 1 else "them"
    return f"{counted(damaged, 'damaged line')} of the ledger passed over: the sums lack {them}"


def cost_text(total: UsageSum) -> str:
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


def _row(name: str, total: UsageSum) -> tuple[object, ...]:
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
