"""`pipimem detail`: whole messages by their ids."""

from __future__ import annotations

from collections.abc import Iterable

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, note, record
from pipimem.cli.recalls import opened_talk
from pipimem.cli.results import message_json, show_messages
from pipimem.errors import NothingFound
from pipimem.runtime.opened_parts import run_alone
from pipimem.runtime.recall_preview import Item
from pipimem.runtime.talk import ChannelTalk
from pipimem.text.token_count import estimate


@click.command("detail")
@channel
@click.argument("messages", metavar="ID...", nargs=-1, required=True)
@as_json
@chosen
def command(chosen: Chosen, channel: str, messages: tuple[str, ...], as_json: bool) -> None:
    """Show whole messages.

    ID is as `search` and `timeline` give it; there may be several. Those that are unknown are named
    at the end. No memory is changed.
    """
    with opened_talk(chosen, channel) as talk:
        items, unknown = _found(talk, messages)
    tokens = sum(estimate(item.text) for item in items)
    if as_json:
        whole = [message_json(item, whole=True) for item in items]
        record({"channel": channel, "messages": whole, "tokens": tokens})
    elif items:
        show_messages(items, whole=True)
        note(f"about {tokens} tokens")
    if unknown:
        raise Failed(" ".join(unknown))


def _found(talk: ChannelTalk, ids: Iterable[str]) -> tuple[list[Item], list[str]]:
    """The messages of some ids, each once; and a sentence for each id that there is not."""
    items: list[Item] = []
    unknown = []
    for message in dict.fromkeys(ids):
        try:
            items += run_alone(talk.detail(message))
        except NothingFound as error:
            unknown.append(str(error))
    return items, unknown
