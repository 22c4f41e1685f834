"""`pipimem consolidate`: the gate before a compaction, by hand."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.printing import counted, note, record, say, table
from pipimem.notes.operations import Hole
from pipimem.runtime.turns import Receipt


@click.command("consolidate")
@channel
@click.option("--deadline", type=click.FloatRange(min=1), default=120.0, show_default=True, help="Seconds it may take.")
@click.option(
    "--holes", is_flag=True, help="Only try again what was set aside because no model could make sense of it."
)
@as_json
@chosen
def command(chosen: Chosen, channel: str, deadline: float, holes: bool, as_json: bool) -> None:
    """Learn from all that is new, as at a compaction.

    SESSION is refreshed, MEMORY learns, and HISTORY gets a block, up to CHANNEL's newest message. The receipt says what
    was covered.
    """
    if holes:
        _tell(run(lambda: _filled(chosen, channel)), channel, as_json)
        return
    receipt = run(lambda: _receipt(chosen, channel, deadline))
    if as_json:
        record({"channel": channel, **asdict(receipt)})
    else:
        say("\n".join(receipt_lines(receipt)))
    if receipt.state != "consolidated":
        raise Failed(f"not consolidated: {receipt.reason}")


def receipt_lines(receipt: Receipt) -> list[str]:
    """The receipt for eyes."""
    covered = counted(receipt.covered, "message")
    lines = [f"{receipt.state}: {covered} covered, consolidated up to message {receipt.cursor}"]
    lines += [f"  {step}" for step in receipt.steps]
    return [*lines, f"  reason: {receipt.reason}"] if receipt.reason else lines


def _tell(told: dict[Hole, str], channel: str, as_json: bool) -> None:
    if as_json:
        rows = [
            {"first": h.first, "last": h.last, "closed": not reason, "reason": reason} for h, reason in told.items()
        ]
        record({"channel": channel, "holes": rows})
    elif not told:
        note("nothing is set aside")
    else:
        table(
            ("messages", "closed", "reason"),
            [(f"{h.first}–{h.last}", "no" if reason else "yes", reason) for h, reason in told.items()],
        )
    if failed := [reason for reason in told.values() if reason]:
        raise Failed(f"{len(failed)} of {len(told)} are still set aside: {failed[0]}")


async def _filled(chosen: Chosen, channel: str) -> dict[Hole, str]:
    async with chosen.opened() as pipimem:
        opened = await pipimem.channel(channel, create=False)
        return await opened.fill_holes()


async def _receipt(chosen: Chosen, channel: str, deadline: float) -> Receipt:
    async with chosen.opened() as pipimem:
        opened = await pipimem.channel(channel, create=False)
        return await opened.before_compaction(deadline=deadline)
