"""`pipimem usage`: what models were asked, and what it cost."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click
from msgspec import structs

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import minute, records, table
from pipimem.cli.times import past_time
from pipimem.notes.usage import Usage
from pipimem.runtime.usage_sums import WAYS, UsageSum, usage_sum, usage_sums

_CALL = "call"
_CALL_HEAD = (_CALL, "channel", "task", "model", "tokens in", "out", "cost", "outcome", "reason")


@click.command("usage")
@click.option(
    "--since",
    type=past_time,
    metavar="TIME",
    help="Only calls from this date on, as in 2026-03-02 or yesterday.",
)
@click.option(
    "--by",
    type=click.Choice((*WAYS, _CALL)),
    default="task",
    show_default=True,
    help="One line for each; with `call` nothing is added up.",
)
@as_json
@chosen
def command(chosen: Chosen, since: datetime | None, by: str, as_json: bool) -> None:
    """Add up what models were asked and what it cost.

    Without a call `--json` gives one line of zeros, `total`.
    """
    usages = chosen.store().usages(since)
    days = f" since {since:%Y-%m-%d}" if since else ""
    nothing = f"no model was called{days}"
    if by == _CALL:
        if as_json:
            records(map(structs.asdict, usages))
        else:
            table(_CALL_HEAD, map(_call_row, usages), empty=nothing)
        return
    sums = usage_sums(usages, by)
    total = {"total": usage_sum(usages)}
    if as_json:
        records({by: name, **asdict(one)} for name, one in (sums or total).items())
        return
    if sums:
        sums |= total
    head = (by, "calls", "failed", "tokens in", "out", "cached", "estimated", "cost")
    table(head, map(_row, sums, sums.values()), empty=nothing)


def _call_row(usage: Usage) -> tuple[object, ...]:
    return (
        minute(usage.time),
        usage.channel,
        usage.task,
        usage.model,
        usage.tokens_in + usage.estimated_in,
        usage.tokens_out + usage.estimated_out,
        cost_text(usage_sum([usage])),
        usage.outcome,
        usage.reason,
    )


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
