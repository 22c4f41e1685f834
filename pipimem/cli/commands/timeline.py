"""`pipimem timeline`: what was said around a message."""

from __future__ import annotations

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import note, record
from pipimem.cli.results import message_json, search_service, show_messages, tokens_of

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

    ID is as `search` gives it. The messages of its own thread are shown, and where that begins or
    ends, what was said beside it. No memory is changed.
    """
    with search_service(chosen) as service:
        slot = service.channel_search(channel).slot(message)
        items = service.all_around(channel, slot, around)
        if as_json:
            messages = list(map(message_json, items))
            about = {"channel": channel, "id": message}
            record({**about, "messages": messages, "tokens": tokens_of(items)})
            return
        show_messages(items, service.channel_search(channel).item(slot).id)
        more = "`pipimem detail CHANNEL ID...` shows whole messages"
        note(f"about {tokens_of(items)} tokens; {more}")
