"""`pipimem timeline`: what was said around a message."""

from __future__ import annotations

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.passages import library, passage_json, passage_text, tokens_of
from pipimem.cli.printing import note, record

# About 200 tokens.
_AROUND = 2


@click.command("timeline")
@channel
@click.argument("message", metavar="ID")
@click.option(
    "--around",
    type=click.IntRange(min=0),
    default=_AROUND,
    show_default=True,
    help="Messages before and after it.",
)
@as_json
@chosen
def command(chosen: Chosen, channel: str, message: str, around: int, as_json: bool) -> None:
    """Show what was said around a message.

    ID is as `search` gives it. Only its own thread is shown. No memory is changed.
    """
    with library(chosen) as shelves:
        slot = shelves.shelf(channel).slot(message)
        items = shelves.around(channel, slot, around, around)
        if as_json:
            told = [passage_json(item) for item in items]
            record(
                {"channel": channel, "id": message, "messages": told, "tokens": tokens_of(items)}
            )
            return
        passage_text(items, shelves.shelf(channel).item(slot).id)
        note(
            f"about {tokens_of(items)} tokens; `pipimem detail CHANNEL ID...` shows whole messages"
        )
