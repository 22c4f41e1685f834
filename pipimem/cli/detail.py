"""`pipimem detail`: whole messages by their ids."""

from __future__ import annotations

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.passages import library, passage_json, passage_text
from pipimem.cli.printing import note, record
from pipimem.text.tokens import estimate


@click.command("detail")
@channel
@click.argument("messages", metavar="ID...", nargs=-1, required=True)
@as_json
@chosen
def command(chosen: Chosen, channel: str, messages: tuple[str, ...], as_json: bool) -> None:
    """Show whole messages.

    ID is as `search` and `timeline` give it; there may be several. No memory is changed.
    """
    with library(chosen) as shelves:
        shelf = shelves.shelf(channel)
        items = [shelf.item(shelf.slot(message)) for message in dict.fromkeys(messages)]
        tokens = sum(estimate(item.text) for item in items)
        if as_json:
            told = [passage_json(item, whole=True) for item in items]
            record({"channel": channel, "messages": told, "tokens": tokens})
            return
        passage_text(items, whole=True)
        note(f"about {tokens} tokens")
