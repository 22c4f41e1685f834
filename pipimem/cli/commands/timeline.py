"""`pipimem timeline`: what was said around a message."""

from __future__ import annotations

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import note, record
from pipimem.cli.recalls import opened_talk
from pipimem.cli.results import message_json, show_messages, tokens_of
from pipimem.runtime.opened_parts import run_alone

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
    with opened_talk(chosen, channel) as talk:
        items = run_alone(talk.timeline(message, around=around))
    if as_json:
        messages = list(map(message_json, items))
        about = {"channel": channel, "id": message}
        record({**about, "messages": messages, "tokens": tokens_of(items)})
        return
    # It may be asked for by its own id, or as lists of hits name it.
    asked = next((item.id for item in items if item.id in (f"log:{message}", message)), message)
    show_messages(items, asked)
    more = "`pipimem detail CHANNEL ID...` shows whole messages"
    note(f"about {tokens_of(items)} tokens; {more}")
