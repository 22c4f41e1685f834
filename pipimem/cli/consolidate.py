"""`pipimem consolidate`: the gate before a compaction, by hand."""

from __future__ import annotations

import click

from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.printing import record, say
from pipimem.cli.receipts import receipt_json, receipt_lines
from pipimem.runtime.turns import Receipt


@click.command("consolidate")
@channel
@click.option("--deadline", type=click.FloatRange(min=1), default=120.0, show_default=True, help="Seconds it may take.")
@as_json
@chosen
def command(chosen: Chosen, channel: str, deadline: float, as_json: bool) -> None:
    """Bring CHANNEL's memory up to its newest message."""
    receipt = run(lambda: _receipt(chosen, channel, deadline))
    if as_json:
        record({"channel": channel, **receipt_json(receipt)})
    else:
        say("\n".join(receipt_lines(receipt)))
    if receipt.state != "consolidated":
        raise Failed(f"not consolidated: {receipt.reason}")


async def _receipt(chosen: Chosen, channel: str, deadline: float) -> Receipt:
    async with chosen.opened() as pipimem:
        opened = await pipimem.channel(channel, create=False)
        return await opened.before_compaction(deadline=deadline)
