"""`pipimem consolidate`: the gate before a compaction, by hand."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, fields, record, say, table
from pipimem.cli.results import receipt_lines
from pipimem.cli.running import with_channel
from pipimem.notes.operations import Hole
from pipimem.runtime.channel import upkeep_of


@click.command("consolidate")
@channel
@click.option(
    "--deadline",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    help="Seconds it may take.",
)
@click.option(
    "--holes",
    is_flag=True,
    help="Only try again what was set aside because no model could make sense of it.",
)
@as_json
@chosen
def command(chosen: Chosen, channel: str, deadline: float, holes: bool, as_json: bool) -> None:
    """Learn from all that is new, as at a compaction.

    SESSION is refreshed, MEMORY learns, and HISTORY gets a block, up to CHANNEL's newest message.
    The receipt says what was covered.
    """
    if holes:
        reasons = with_channel(chosen, channel, lambda one: upkeep_of(one).fill_holes())
        _show_holes(reasons, channel, as_json)
        return
    receipt = with_channel(chosen, channel, lambda one: one.before_compaction(deadline=deadline))
    if as_json:
        record({"channel": channel, **asdict(receipt)})
    else:
        # Why it was not done is told below, once.
        say("\n".join(receipt_lines(receipt, with_reason=False)))
    if receipt.state != "consolidated":
        raise Failed(f"not consolidated: {receipt.reason}")


def _show_holes(reasons: dict[Hole, str], channel: str, as_json: bool) -> None:
    """What was tried again, and by hole why it is still set aside, empty where it is not."""
    rows, holes = [], []
    for hole, reason in reasons.items():
        rows.append((f"{hole.first}–{hole.last}", "no" if reason else "yes", reason))
        holes.append({**fields(hole, "first", "last"), "closed": not reason, "reason": reason})
    if as_json:
        record({"channel": channel, "holes": holes})
    else:
        table(("messages", "closed", "reason"), rows, empty="nothing is set aside")
    failed = list(filter(None, reasons.values()))
    if failed:
        raise Failed(f"{len(failed)} of {len(reasons)} are still set aside: {failed[0]}")
